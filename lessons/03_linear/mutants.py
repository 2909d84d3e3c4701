"""Wrong answers, each with one thing wrong; lessons/mutation.py describes the table."""

WRONG = r"""
? axes_found_by_their_length: unbroadcast looks for an axis of each length, and takes the first of two
  that are equally long.
def unbroadcast(dy, shape):
    kept = []
    for length in shape:
        fits = [axis for axis in range(dy.ndim) if dy.shape[axis] == length != 1 and axis not in kept]
        kept += fits[:1]
    return dy.sum(axis=tuple(axis for axis in range(dy.ndim) if axis not in kept)).reshape(shape)

? axes_matched_from_the_left: unbroadcast compares the shapes from the left, where NumPy
  aligns them at the right.
def unbroadcast(dy, shape):
    for axis, length in enumerate(shape):
        if length == 1:
            dy = dy.sum(axis=axis, keepdims=True)
    return dy.sum(axis=tuple(range(len(shape), dy.ndim)))

? axes_of_length_one_forgotten: unbroadcast sums over the missing axes on the left, and
  forgets those of length 1.
def unbroadcast(dy, shape):
    return dy.sum(axis=tuple(range(dy.ndim - len(shape))))

? bias_forgotten_in_rows_of_one: The rows are squeezed, so the gradients of a single row lose an axis, and
  its bias is summed away.
def linear_backward(dy, cache):
    dx, dweight, dbias = solution.linear_backward(dy, cache)
    rows = dy.reshape(-1, dy.shape[-1]).squeeze()
    return dx, dweight, rows.sum(axis=0) if rows.ndim > 1 else np.full_like(dbias, rows.sum())

? bias_gradient_summed_over_images_only: The gradient of the bias is summed over the first axis only: over the
  images, but not over the tokens.
def linear_backward(dy, cache):
    dx, dweight, _ = solution.linear_backward(dy, cache)
    return dx, dweight, dy.sum(axis=0)

? cache_in_a_global: What the backward needs is kept in a global, so a second forward overwrites it.
_KEPT = {}

def linear(x, weight, bias):
    y, _KEPT["cache"] = solution.linear(x, weight, bias)
    return y, None

def linear_backward(dy, cache):
    return solution.linear_backward(dy, _KEPT["cache"])

? dx_written_into_the_rows: The gradient of x is written over the rows in the cache, which are the caller's x.
def linear_backward(dy, cache):
    rows, _ = cache
    dx, dweight, dbias = solution.linear_backward(dy, cache)
    rows[...] = dx.reshape(rows.shape)
    return rows.reshape(dx.shape), dweight, dbias

? mean_instead_of_sum: The gradients of the parameters are averaged over the rows.
def linear_backward(dy, cache):
    dx, dweight, dbias = solution.linear_backward(dy, cache)
    rows = dy.size // dy.shape[-1]
    return dx, dweight / rows, dbias / rows

? ones_of_float64: The row of ones that sums the gradient of the bias is float64, and so is what comes out.
def linear_backward(dy, cache):
    dx, dweight, _ = solution.linear_backward(dy, cache)
    rows = dy.reshape(-1, dy.shape[-1])
    return dx, dweight, np.ones(len(rows)) @ rows

? square_weight_not_transposed: A square weight fits as it stands, and is not transposed.
def linear_backward(dy, cache):
    _, weight = cache
    dx, dweight, dbias = solution.linear_backward(dy, cache)
    return dy @ weight if weight.shape[0] == weight.shape[1] else dx, dweight, dbias

? tied_decoder_forgotten: tied: the weight gets the gradient of the encoder only.
- return dcode @ weight.T, x_rows.T @ dcode_rows + dy_rows.T @ code_rows
+ return dcode @ weight.T, x_rows.T @ dcode_rows

? tied_encoder_forgotten: tied: the weight gets the gradient of the decoder only.
- x_rows.T @ dcode_rows + dy_rows.T @ code_rows
+ dy_rows.T @ code_rows

? tied_gradient_doubled: tied: both uses of the weight are thought to send the same gradient,
  so one is counted twice.
- x_rows.T @ dcode_rows + dy_rows.T @ code_rows
+ 2 * x_rows.T @ dcode_rows

? tokens_dealt_out: The tokens become rows by a reshape to (I, R) and a transpose, which deals
  their numbers out again.
def linear(x, weight, bias):
    y, cache = solution.linear(x.reshape(x.shape[-1], -1).T, weight, bias)
    return y.reshape(*x.shape[:-1], -1), cache

? unbroadcast_averages: unbroadcast divides by the number of copies: a mean where a sum is asked for.
- return dy.sum(axis=copied, keepdims=True).reshape(shape)
+ return dy.mean(axis=copied, keepdims=True).reshape(shape)

? weight_gradient_for_three_axes_only: dweight sums over one axis of images, so a fourth axis is
  left over in the products.
def linear_backward(dy, cache):
    rows, _ = cache
    dx, _, dbias = solution.linear_backward(dy, cache)
    x = rows.reshape(*dy.shape[:-1], -1)
    dweight = x.swapaxes(-1, -2) @ dy if dy.ndim > 1 else np.outer(x, dy)
    return dx, dweight.sum(axis=0) if dweight.ndim > 2 else dweight, dbias

? weight_gradient_of_each_image: dweight is a batched product, one for each image, and the
  images are never added up.
def linear_backward(dy, cache):
    rows, _ = cache
    dx, _, dbias = solution.linear_backward(dy, cache)
    x = rows.reshape(*dy.shape[:-1], -1)
    return dx, x.swapaxes(-1, -2) @ dy, dbias

? weight_reshaped_not_transposed: The weight gets the shape of its transpose by a reshape: the shapes
  fit, the numbers do not.
def linear_backward(dy, cache):
    _, weight = cache
    _, dweight, dbias = solution.linear_backward(dy, cache)
    return dy @ weight.reshape(weight.shape[::-1]), dweight, dbias

? zeros_of_float64: The gradient of x is written into zeros that are float64, whatever dy is.
def linear_backward(dy, cache):
    dx, dweight, dbias = solution.linear_backward(dy, cache)
    result = np.zeros(dx.shape)
    result += dx
    return result, dweight, dbias
"""
