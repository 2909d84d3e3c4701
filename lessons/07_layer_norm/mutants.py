"""Wrong answers, each with one thing wrong; lessons/mutation.py describes the table."""

WRONG = r"""
? bias_gradient_not_summed: The gradient of the offset keeps the rows instead of adding them up.
def layer_norm_backward(dy, cache):
    dx, dweight, _ = solution.layer_norm_backward(dy, cache)
    return dx, dweight, dy

? cache_spoiled: The closed form multiplies into the n that the forward has kept.
def layer_norm_backward(dy, cache):
    n = cache[0]
    gradients = solution.layer_norm_backward(dy, cache)
    n *= (dy * cache[2] * n).mean(axis=-1, keepdims=True)
    return gradients

? eps_ignored: The eps that is given is ignored: it is always 1e-6.
def layer_norm(x, weight, bias, eps=1e-6):
    return solution.layer_norm(x, weight, bias)

? eps_of_pytorch: Without an eps, it is 1e-5, as in PyTorch.
def layer_norm(x, weight, bias, eps=1e-5):
    return solution.layer_norm(x, weight, bias, eps)

? eps_outside_the_root: eps is added to the standard deviation instead of the variance.
def layer_norm(x, weight, bias, eps=1e-6):
    r = 1 / (x.std(axis=-1, keepdims=True) + eps)
    n = (x - x.mean(axis=-1, keepdims=True)) * r
    return n * weight + bias, (n, r, weight)

? gain_applied_late: The gain multiplies the finished dx, and belongs to dy, before the means are taken.
def layer_norm_backward(dy, cache):
    n, r, weight = cache
    dx, _, _ = solution.layer_norm_backward(dy, (n, r, np.ones_like(weight)))
    return dx * weight, *solution.layer_norm_backward(dy, cache)[1:]

? gain_gradient_from_y: The gradient of the gain is taken with n times the gain.
def layer_norm_backward(dy, cache):
    dx, dweight, dbias = solution.layer_norm_backward(dy, cache)
    return dx, dweight * cache[2], dbias

? gain_left_out_of_dx: dy is taken for the gradient at n: the gain is left out.
def layer_norm_backward(dy, cache):
    n, r, weight = cache
    dx, _, _ = solution.layer_norm_backward(dy, (n, r, np.ones_like(weight)))
    return dx, *solution.layer_norm_backward(dy, cache)[1:]

? means_of_float64: The column of 1 / D that takes the means is float64, and so is dx.
def layer_norm_backward(dy, cache):
    n, r, weight = cache
    D = dy.shape[-1]
    g, column = dy * weight, np.full((D, 1), 1 / D)
    return r * (g - g @ column - n * ((g * n) @ column)), *solution.layer_norm_backward(dy, cache)[1:]

? missing_mean_term: The path through the mean is left out.
def layer_norm_backward(dy, cache):
    n, r, weight = cache
    g = dy * weight
    return r * (g - n * (g * n).mean(axis=-1, keepdims=True)), *solution.layer_norm_backward(dy, cache)[1:]

? missing_r_term: The path through r is left out, the one with the mean of g n.
def layer_norm_backward(dy, cache):
    n, r, weight = cache
    g = dy * weight
    return r * (g - g.mean(axis=-1, keepdims=True)), *solution.layer_norm_backward(dy, cache)[1:]

? n_recovered_from_y: The cache keeps y, and the backward divides by the gain to get n back.
def layer_norm(x, weight, bias, eps=1e-6):
    y, (_, r, _) = solution.layer_norm(x, weight, bias, eps)
    return y, (y, r, weight, bias)

def layer_norm_backward(dy, cache):
    y, r, weight, bias = cache
    n = np.divide(y - bias, weight, out=np.zeros_like(y), where=weight != 0)
    return solution.layer_norm_backward(dy, (n, r, weight))

? normalised_in_place: The mean is subtracted from the caller's x.
def layer_norm(x, weight, bias, eps=1e-6):
    x -= x.mean(axis=-1, keepdims=True)
    return solution.layer_norm(x, weight, bias, eps)

? normalised_over_the_batch: Mean and variance are taken over the first axis: that is batch normalisation.
def layer_norm(x, weight, bias, eps=1e-6):
    r = 1 / np.sqrt(x.var(axis=0, keepdims=True) + eps)
    n = (x - x.mean(axis=0, keepdims=True)) * r
    return n * weight + bias, (n, r, weight)

? normalised_over_the_second_axis: Mean and variance are taken over axis 1, which is the last one
  only where there are two.
def layer_norm(x, weight, bias, eps=1e-6):
    axis = min(1, x.ndim - 1)
    r = 1 / np.sqrt(x.var(axis=axis, keepdims=True) + eps)
    n = (x - x.mean(axis=axis, keepdims=True)) * r
    return n * weight + bias, (n, r, weight)

? path_through_mean_without_r: The path through the mean lacks the factor r.
- through_mean = -(g * r).mean(axis=-1, keepdims=True)
+ through_mean = -g.mean(axis=-1, keepdims=True)

? path_through_r_has_another_sign: The third path is added with the wrong sign.
- through_r = -r * n * (g * n).mean(axis=-1, keepdims=True)
+ through_r = r * n * (g * n).mean(axis=-1, keepdims=True)

? path_through_r_of_all_rows: The third path takes one mean over all rows.
- -r * n * (g * n).mean(axis=-1, keepdims=True)
+ -r * n * (g * n).mean()

? r_in_a_global: r is kept in a global, so a second forward overwrites it.
_KEPT = {}

def layer_norm(x, weight, bias, eps=1e-6):
    y, (n, _KEPT["r"], weight) = solution.layer_norm(x, weight, bias, eps)
    return y, (n, weight)

def layer_norm_backward(dy, cache):
    n, weight = cache
    return solution.layer_norm_backward(dy, (n, _KEPT["r"], weight))

? rms_sum_of_the_first_numbers: rms_norm: what comes back to r is added up over the first numbers only.
- dx[..., :first] -= head * r**3 * (g * x).sum(axis=-1, keepdims=True) / first
+ dx[..., :first] -= head * r**3 * (g * x)[..., :first].sum(axis=-1, keepdims=True) / first

? rms_through_r_of_all_numbers: rms_norm: what comes back through r is spread over all numbers of the row.
- dx[..., :first] -= head * r**3
+ dx -= x * r**3

? rows_of_images_only: dweight is summed over all rows, dbias over the first axis and then averaged.
def layer_norm_backward(dy, cache):
    dx, dweight, _ = solution.layer_norm_backward(dy, cache)
    return dx, dweight, dy.sum(axis=0).reshape(-1, dy.shape[-1]).mean(axis=0) if dy.ndim > 1 else dy

? trusts_if_dx_is_right: trust_layer_norm looks at the first of the three errors only.
- if not max(errors) < 1e-6:
+ if not errors[0] < 1e-6:

? trusts_to_a_tenth: trust_layer_norm trusts whatever is off by less than a tenth.
- if not max(errors) < 1e-6:
+ if not max(errors) < 0.1:

? trusts_with_the_default_eps: trust_layer_norm never gives an eps.
- forward(*inputs, eps=0.5)
+ forward(*inputs)

? trusts_with_two_axes_only: trust_layer_norm never tries more than two axes.
- ((4, 5), (3, 2, 5), (2, 3, 2, 4))
+ ((4, 5), (3, 4))

? variance_in_one_pass: The variance is the mean of the squares less the square of the mean,
  which cancels in float32.
def layer_norm(x, weight, bias, eps=1e-6):
    mean = x.mean(axis=-1, keepdims=True)
    variance = (x * x).mean(axis=-1, keepdims=True) - mean * mean
    r = 1 / np.sqrt(np.maximum(variance, 0) + eps)
    n = (x - mean) * r
    return n * weight + bias, (n, r, weight)

? variance_over_d_minus_1: The variance divides by D - 1, as statistics books do.
def layer_norm(x, weight, bias, eps=1e-6):
    r = 1 / np.sqrt(x.var(axis=-1, keepdims=True, ddof=1) + eps)
    n = (x - x.mean(axis=-1, keepdims=True)) * r
    return n * weight + bias, (n, r, weight)
"""
