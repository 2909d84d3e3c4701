"""Wrong answers, each with one thing wrong; lessons/mutation.py describes the table."""

WRONG = r"""
? a_product_for_each_image: The rows of every image are a product of their own: BLAS is called once for each.
def row_means(x):
    return x @ np.full((x.shape[-1], 1), 1 / x.shape[-1], dtype=x.dtype)

? adam_a_hundred_at_a_time: Pieces of a hundred numbers: hardly any memory, and all the time goes into Python.
def adam_in_pieces(w, g, m, v, step, lr, beta1=0.9, beta2=0.999, eps=1e-8):
    for i in range(0, len(w), 100):
        part = slice(i, i + 100)
        solution.adam_in_pieces(w[part], g[part], m[part], v[part], step, lr, beta1, beta2, eps)

? adam_last_piece_lost: Only whole pieces are updated: the numbers left over at the end stay as they are.
def adam_in_pieces(w, g, m, v, step, lr, beta1=0.9, beta2=0.999, eps=1e-8):
    n = len(w) // 1024 * 1024
    solution.adam_in_pieces(w[:n], g[:n], m[:n], v[:n], step, lr, beta1, beta2, eps)

? adam_scratch_kept: The scratch array is as long as w, and is kept for the next step: nobody sees it being
  made.
kept = {}

def adam_in_pieces(w, g, m, v, step, lr, beta1=0.9, beta2=0.999, eps=1e-8):
    t = kept.setdefault((w.shape, w.dtype), np.empty_like(w))
    np.square(g, out=t)
    t -= v
    t *= 1 - beta2
    v += t
    np.subtract(g, m, out=t)
    t *= 1 - beta1
    m += t
    np.sqrt(v, out=t)
    t /= np.sqrt(1 - beta2**step)
    t += eps
    np.divide(m, t, out=t)
    t *= lr / (1 - beta1**step)
    w -= t

? adam_spoils_g: The gradient is used as the scratch array.
def adam_in_pieces(w, g, m, v, step, lr, beta1=0.9, beta2=0.999, eps=1e-8):
    solution.adam_in_pieces(w, g, m, v, step, lr, beta1, beta2, eps)
    np.square(g, out=g)

? adam_square_forgotten: v moves towards the gradient itself, and not towards its square.
-         np.multiply(g_, g_, out=t)
-         t -= v_
+         np.subtract(g_, v_, out=t)

? adam_uncorrected_eps: The root's correction multiplies eps as well.
def adam_in_pieces(w, g, m, v, step, lr, beta1=0.9, beta2=0.999, eps=1e-8):
    solution.adam_in_pieces(w, g, m, v, step, lr, beta1, beta2, eps / np.sqrt(1 - beta2**step))

? adam_whole_arrays: In place, but over all of w at once: the scratch array is as long as w.
def adam_in_pieces(w, g, m, v, step, lr, beta1=0.9, beta2=0.999, eps=1e-8):
    t = np.square(g)
    t -= v
    t *= 1 - beta2
    v += t
    np.subtract(g, m, out=t)
    t *= 1 - beta1
    m += t
    np.sqrt(v, out=t)
    t /= np.sqrt(1 - beta2**step)
    t += eps
    np.divide(m, t, out=t)
    t *= lr / (1 - beta1**step)
    w -= t

? gelu_by_tanh: Right and in place, with tanh.
def gelu_tanh(x):
    y = x * x
    y *= solution.SLOPE / 2 * solution.CUBIC
    y += solution.SLOPE / 2
    y *= x
    np.tanh(y, out=y)
    y += 1
    y *= x
    y *= 0.5
    return y

? gelu_in_x: The array that is worked in is the one that was given: x is lost.
def gelu_tanh(x):
    x[...] = solution.gelu_tanh(x)
    return x

? gelu_new_arrays: GELU as it stands in the formula: right, but every step makes an array.
def gelu_tanh(x):
    u = 0.7978845608028654 * (x + 0.044715 * x * x * x)
    gate = 0.5 * (1 + np.tanh(u))
    return x * gate

? gelu_overflows: The gate as exp(2u) / (1 + exp(2u)): infinity divided by infinity where x is large.
def gelu_tanh(x):
    e = np.exp(1.5957691216057308 * (x + 0.044715 * x * x * x))
    return x * e / (1 + e)

? gelu_workspace_kept: The array that is worked in is kept for the next call, and is the result of both.
kept = {}

def gelu_tanh(x):
    y = kept.setdefault((x.shape, x.dtype), np.empty_like(x))
    y[...] = solution.gelu_tanh(x)
    return y

? gelu_wrong_constant: The cubic term of GELU has ten times its weight: 0.44715.
def gelu_tanh(x):
    y = x * x
    y *= -1.5957691 * 0.44715
    y -= 1.5957691
    y *= x
    np.exp(y, out=y)
    y += 1
    return np.divide(x, y, out=y)

? means_are_sums: The column holds ones instead of 1/D.
def row_means(x):
    return x @ np.ones((x.shape[-1], 1), dtype=x.dtype)

? means_by_einsum: einsum over the last axis: right, but a loop of NumPy's own and not BLAS.
def row_means(x):
    return (np.einsum("...d->...", x) / x.dtype.type(x.shape[-1]))[..., None]

? means_by_reduction: The mean is a reduction: right, but not a product.
def row_means(x):
    return x.mean(axis=-1, keepdims=True)

? means_in_float64: The column is made without a dtype, so float32 rows become float64 means.
def row_means(x):
    D = x.shape[-1]
    return (x.reshape(-1, D) @ np.full((D, 1), 1 / D)).reshape(*x.shape[:-1], 1)

? means_multiplied_in_float64: The column is float64: all of a float32 x is converted for the product, and the
  means back again.
def row_means(x):
    D = x.shape[-1]
    return (x.reshape(-1, D) @ np.full((D, 1), 1 / D)).astype(x.dtype).reshape(*x.shape[:-1], 1)

? means_of_columns: The mean over the wrong axis: a row of 1/R from the left averages columns.
def row_means(x):
    rows = x.reshape(-1, x.shape[-1])
    return np.full((1, len(rows)), 1 / len(rows), dtype=x.dtype) @ rows

? means_of_two_axes_only: Rows of three or four axes are counted as if there were two: means of all but the
  first axis.
def row_means(x):
    D = x.shape[-1]
    rows = x.reshape(-1, D) if x.ndim < 4 else x.reshape(x.shape[0], -1)
    column = np.full((rows.shape[1], 1), 1 / rows.shape[1], dtype=x.dtype)
    means = rows @ column
    return means.reshape(*x.shape[:-1], 1) if x.ndim < 4 else means.reshape(-1, 1, 1, 1) + 0 * x[..., :1]

? trusts_gradients_alone: Only the gradient check is run: what was spoiled is not looked at.
def trust_in_place(forward, backward):
    rng = np.random.default_rng(0)
    shapes = (4, 3), (2, 3, 5)
    return all(max(check_gradients(forward, backward, (rng.normal(size=s),), rng)) < 1e-6 for s in shapes)

? trusts_its_inputs_alone: x and dy are compared, what was returned is not.
def trust_in_place(forward, backward):
    rng = np.random.default_rng(0)
    for shape in ((4, 3), (2, 3, 5)):
        x, dy = rng.normal(size=(2, *shape))
        if not max(check_gradients(forward, backward, (x.copy(),), rng)) < 1e-6:
            return False
        before, upstream = x.copy(), dy.copy()
        _, cache = forward(x)
        first = backward(dy, cache).copy()
        if not np.array_equal(first, backward(dy, cache)):
            return False
        if not np.array_equal(x, before) or not np.array_equal(dy, upstream):
            return False
    return True
"""
