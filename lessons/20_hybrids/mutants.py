"""Wrong answers, each with one thing wrong; lessons/mutation.py describes the table."""

WRONG = r"""
? divided_by_m_minus_1: The variance of a channel's weights divides by m - 1.
def weight_standardisation(w, eps=1e-5):
    m = w[..., 0].size
    c = w - w.mean(axis=(0, 1, 2))
    s = np.sqrt((c * c).sum(axis=(0, 1, 2)) / max(m - 1, 1))
    y = c / (s + eps)
    return y, (y, 1 / (s + eps), (s + eps) / (s + (s == 0)))

? eps_under_the_root: Weight standardisation adds eps to the variance, as LayerNorm does.
def weight_standardisation(w, eps=1e-5):
    c = w - w.mean(axis=(0, 1, 2))
    variance = (c * c).mean(axis=(0, 1, 2))
    _, cache = solution.weight_standardisation(w, eps)
    return c / np.sqrt(variance + eps), cache

? equal_weights_give_nan: A channel whose weights are all equal divides 0 by 0 on the way back.
def weight_standardisation(w, eps=1e-5):
    y, _ = solution.weight_standardisation(w, eps)
    return y, (y, w.std(axis=(0, 1, 2)), eps)

def weight_standardisation_backward(dy, cache):
    y, s, eps = cache
    axes = (0, 1, 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        u = y * ((s + eps) / s)
    return (dy - dy.mean(axis=axes) - u * (dy * y).mean(axis=axes)) / (s + eps)

? kernel_as_a_whole: The kernel is standardised over all four axes, not each output channel by itself.
def weight_standardisation(w, eps=1e-5):
    flat = w.reshape(-1, 1, 1, 1).transpose(3, 1, 2, 0).T  # one channel with all the weights
    y, (_, *factors) = solution.weight_standardisation(flat, eps)
    return y.reshape(w.shape), (y.reshape(w.shape), *(np.repeat(f, w.shape[-1]) for f in factors))

? kernel_mean_forgotten: The path through the mean of the kernel is left out.
def weight_standardisation_backward(dy, cache):
    return solution.weight_standardisation_backward(dy, cache) + dy.mean(axis=(0, 1, 2)) * cache[1]

? norm_across_images: The two means of GroupNorm run over all images together, as in batch normalisation.
def group_norm_backward(dy, cache):
    n, r, weight, groups = cache
    g = (dy.reshape(n.shape) * weight).reshape(*n.shape[:2], groups, -1)
    split = n.reshape(g.shape)
    rest = g - g.mean(axis=(0, 1, 3), keepdims=True)
    rest = rest - split * (g * split).mean(axis=(0, 1, 3), keepdims=True)
    return (rest.reshape(n.shape) * r).reshape(dy.shape), *solution.group_norm_backward(dy, cache)[1:]

? norm_gains_by_image: The gradients of gain and offset are not summed over the images.
def group_norm_backward(dy, cache):
    products = dy.reshape(cache[0].shape) * cache[0]
    return solution.group_norm_backward(dy, cache)[0], products.sum(axis=1), dy.sum(axis=(1, 2))

? norm_in_float64: The backward of GroupNorm takes its means with a float64 array.
def group_norm_backward(dy, cache):
    dx, dweight, dbias = solution.group_norm_backward(dy, cache)
    return dx * np.ones(dy.shape), dweight, dbias

? norm_means_over_channels_alone: The means in dx divide by the channels of a group: the number of positions
  is forgotten.
def group_norm_backward(dy, cache):
    n, r, weight, _ = cache
    dx, dweight, dbias = solution.group_norm_backward(dy, cache)
    direct = (dy.reshape(n.shape) * weight * r).reshape(dy.shape)
    return direct - n.shape[1] * (direct - dx), dweight, dbias

? norm_of_the_whole_image: The two means of GroupNorm run over all channels of the image instead of those of
  the group.
def group_norm_backward(dy, cache):
    n, r, weight, _ = cache
    return solution.group_norm_backward(dy, (n, r, weight, 1))

? norm_offset_averaged: The gradient of the offset is averaged over the positions.
def group_norm_backward(dy, cache):
    dx, dweight, dbias = solution.group_norm_backward(dy, cache)
    return dx, dweight, dbias / cache[0].shape[1]

? norm_spoils_its_cache: The backward of GroupNorm multiplies into the n that the forward has kept.
def group_norm_backward(dy, cache):
    gradients = solution.group_norm_backward(dy, cache)
    n = cache[0]
    n *= cache[2]
    return gradients

? norm_without_gain: The gradient that reaches n is taken to be dy: the gain is left out.
def group_norm_backward(dy, cache):
    n, r, weight, groups = cache
    dx, _, _ = solution.group_norm_backward(dy, (n, r, np.ones_like(weight), groups))
    return dx, *solution.group_norm_backward(dy, cache)[1:]

? one_input_channel_at_a_time: Mean and deviation are taken over the window alone, for each input channel by
  itself.
def weight_standardisation(w, eps=1e-5):
    c = w - w.mean(axis=(0, 1))
    s = np.sqrt((c * c).mean(axis=(0, 1)))
    y, r = c / (s + eps), 1 / (s.mean(axis=0) + eps)
    return y, (y, r, np.ones_like(r))

? own_stride_counted: The stride of a window is counted for the window itself.
-         side += (k - 1) * step
-         step *= stride
+         step *= stride
+         side += (k - 1) * step

? pool_forgotten: The max-pool behind the root is left out.
- yield from ((7, 2), (3, 2))
+ yield from ((7, 2),)

? u_taken_for_y: In the gradient of weight standardisation, y stands where c / s belongs.
def weight_standardisation_backward(dy, cache):
    y, r, _ = cache
    axes = (0, 1, 2)
    return (dy - dy.mean(axis=axes) - y * (dy * y).mean(axis=axes)) * r
"""
