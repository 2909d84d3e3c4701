"""Wrong answers, each with one thing wrong; lessons/mutation.py describes the table."""

WRONG = r"""
? averaged_when_smaller: Where the row becomes shorter, each new value is the mean of a stretch of old ones.
def resize_matrix(n, m, method):
    if m >= n or m == 1:
        return solution.resize_matrix(n, m, method)
    edges = np.arange(m + 1) * n / m
    cells = np.arange(n)
    overlap = np.minimum(edges[1:, None], cells + 1) - np.maximum(edges[:-1, None], cells)
    return overlap.clip(0) * m / n

? biases_by_columns: The biases are laid out with the heads running fastest.
def attention_from_official(query, key, value, out):
    weight, _, out_weight, out_bias = solution.attention_from_official(query, key, value, out)
    return (
        weight,
        np.concatenate([bias.T.reshape(-1) for _, bias in (query, key, value)]),
        out_weight,
        out_bias,
    )

? border_overwritten: Two neighbours that are the same value: the second share replaces the first, instead of
  being added.
def resize_matrix(n, m, method):
    at = np.linspace(0, n - 1, m) if method == "corners" else (np.arange(m) + 0.5) * n / m - 0.5
    j = np.floor(at).astype(int)
    matrix = np.zeros((m, n))
    matrix[np.arange(m), j.clip(0, n - 1)] = 1 - (at - j)
    matrix[np.arange(m), (j + 1).clip(0, n - 1)] = at - j
    return matrix

? channels_first: The rows of the patch matrix are taken as if they went through the channels first.
def embedding_for_our_pixels(weight, bias, mean, std):
    mean, std = np.asarray(mean), np.asarray(std)
    count = len(weight) // len(mean)
    scale, shift = np.repeat(0.5 / std, count), np.repeat((0.5 - mean) / std, count)
    return (weight * scale[:, None]).astype(weight.dtype), (bias + shift @ weight).astype(bias.dtype)

? dark_border: Beyond the border there is nothing: the outermost rows do not add up to 1.
def resize_matrix(n, m, method):
    if method == "corners":
        return solution.resize_matrix(n, m, method)
    at = (np.arange(m) + 0.5) * n / m - 0.5
    return (1 - np.abs(at[:, None] - np.arange(n))).clip(0)

? heads_first: The columns of qkv go through the heads first, and through q, k, v within each.
def attention_from_official(query, key, value, out):
    kernel, bias = out
    D = kernel.shape[-1]
    weight = np.stack([part[0] for part in (query, key, value)], axis=2)  # (D, H, 3, K)
    offset = np.stack([part[1] for part in (query, key, value)], axis=1)  # (H, 3, K)
    return weight.reshape(D, -1), offset.reshape(-1), kernel.reshape(D, D), bias.copy()

? heads_of_out_swapped: The rows of out go through K first, then through the heads.
def attention_from_official(query, key, value, out):
    weight, bias, out_weight, out_bias = solution.attention_from_official(query, key, value, out)
    return weight, bias, out[0].swapaxes(0, 1).reshape(out_weight.shape), out_bias

? nearest: The nearest value is taken whole.
def resize_matrix(n, m, method):
    if method == "corners":
        at = np.linspace(0, n - 1, m) if m > 1 else np.zeros(1)
    else:
        at = (np.arange(m) + 0.5) * n / m - 0.5
    return np.eye(n)[np.rint(at).astype(int).clip(0, n - 1)]

? no_half_pixel: 'bilinear' reads at i n / m: the upper left corners of the cells, not their middles.
def resize_matrix(n, m, method):
    if method == "corners":
        return solution.resize_matrix(n, m, method)
    at = (np.arange(m) * n / m).clip(0, n - 1)
    return (1 - np.abs(at[:, None] - np.arange(n))).clip(0)

? one_is_the_middle: A single value reads in the middle of the row by either method.
def resize_matrix(n, m, method):
    return solution.resize_matrix(n, m, "bilinear" if m == 1 else method)

? one_order_of_parts: Keys come before queries.
def attention_from_official(query, key, value, out):
    return solution.attention_from_official(key, query, value, out)

? pixels_from_zero: tinyvit's pixels are taken for numbers from 0 to 1.
def embedding_for_our_pixels(weight, bias, mean, std):
    mean, std = np.asarray(mean), np.asarray(std)
    count = len(weight) // len(mean)
    scale, shift = np.tile(1 / std, count), np.tile(-mean / std, count)
    return (weight * scale[:, None]).astype(weight.dtype), (bias + shift @ weight).astype(bias.dtype)

? shift_through_the_new_weight: The bias takes the shift through the weight that was scaled already.
def embedding_for_our_pixels(weight, bias, mean, std):
    new, _ = solution.embedding_for_our_pixels(weight, bias, mean, std)
    shift = np.tile((0.5 - np.asarray(mean)) / np.asarray(std), len(weight) // len(mean))
    return new, (bias + shift @ new).astype(bias.dtype)

? transposed_out: The out kernel is transposed, as one would for a file of PyTorch.
def attention_from_official(query, key, value, out):
    *qkv, weight, bias = solution.attention_from_official(query, key, value, out)
    return *qkv, weight.T.copy(), bias

? truncated_instead_of_floor: int() rounds -1/4 to 0, not to -1: the first value is continued as a straight
  line beyond the border.
def resize_matrix(n, m, method):
    if method == "corners":
        return solution.resize_matrix(n, m, method)
    matrix = np.zeros((m, n))
    for i in range(m):
        t = (i + 0.5) * n / m - 0.5
        j = int(t)
        f = t - j
        matrix[i, min(j, n - 1)] += 1 - f
        matrix[i, min(j + 1, n - 1)] += f
    return matrix

? trusts_corners: The check has many sizes and one method.
def trust_resize(forward, backward):
    rng = np.random.default_rng(0)
    for size in ((5, 7), (2, 3), (1, 4), (6, 2)):
        images = rng.normal(size=(2, 4, 4, 2))
        resize = lambda x, size=size: forward(x, size, "corners")
        if not max(check_gradients(resize, backward, (images,), rng)) < 1e-6:
            return False
    return True

? trusts_larger_squares: The check only ever makes square images twice as large.
def trust_resize(forward, backward):
    rng = np.random.default_rng(0)
    images = rng.normal(size=(2, 3, 3, 2))
    for method in ("corners", "bilinear"):
        resize = lambda x, method=method: forward(x, (6, 6), method)
        if not max(check_gradients(resize, backward, (images,), rng)) < 1e-6:
            return False
    return True

? zeros_of_float64: The matrices are filled into arrays of zeros that nobody told their dtype.
def attention_from_official(query, key, value, out):
    weight, *others = solution.attention_from_official(query, key, value, out)
    filled = np.zeros(weight.shape)
    filled[...] = weight
    return filled, *others
"""
