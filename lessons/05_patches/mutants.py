"""Wrong answers, each with one thing wrong; lessons/mutation.py describes the table."""

WRONG = r"""
? backward_cuts_again: The backward applies the permutation once more instead of its inverse.
def patchify_backward(dy, cache):
    shape, patch = cache
    return patchify(dy.reshape(shape), patch)[0].reshape(shape)

? backward_only_reshapes: The backward gives dy the shape of the images, and leaves the numbers where they
  are.
def patchify_backward(dy, cache):
    shape, _ = cache
    return dy.reshape(shape)

? bytes_become_floats: The patches are collected in np.zeros, which is float64 whatever the images are.
def patchify(images, patch):
    y, cache = solution.patchify(images, patch)
    collected = np.zeros(y.shape)
    collected[...] = y
    return collected, cache

? channels_first: Within each patch, the channel comes first: (C, P, P) instead of (P, P, C).
def patchify(images, patch):
    B, H, W, C = images.shape
    if H % patch or W % patch:
        raise ValueError(f"image of {H} x {W} pixels cannot be cut into patches of {patch} x {patch}")
    x = images.reshape(B, H // patch, patch, W // patch, patch, C).transpose(0, 1, 3, 5, 2, 4)
    return x.reshape(B, -1, patch * patch * C), (images.shape, patch)

def unpatchify(patches, shape, patch):
    B, H, W, C = shape
    x = patches.reshape(B, H // patch, W // patch, C, patch, patch).transpose(0, 1, 4, 2, 5, 3)
    return x.reshape(shape)

def patchify_backward(dy, cache):
    return unpatchify(dy, *cache)

? checks_one_image: trust_class_token tries a single image, which hides what happens to the others.
- x, token = rng.normal(size=(3, 4, 5)), rng.normal(size=5)
+ x, token = rng.normal(size=(1, 4, 5)), rng.normal(size=5)

? checks_the_gradients_alone: trust_class_token never looks at the values.
- if not np.array_equal(y, expected)
+ if np.shape(y) != np.shape(expected)

? fits_by_luck: The number of patch rows is left to the reshape: a height that P does not divide may still
  fit.
def patchify(images, patch):
    B, _, W, C = images.shape
    x = images.reshape(B, -1, patch, W // patch, patch, C).transpose(0, 1, 3, 2, 4, 5)
    return x.reshape(B, -1, patch * patch * C), (images.shape, patch)

? grid_averaged: The gradients of both tables are averaged over the patches that share a row.
- patches.sum(axis=(0, 2))
+ patches.sum(axis=0).mean(axis=1)
- patches.sum(axis=(0, 1))
+ patches.sum(axis=0).mean(axis=0)

? overlaps_averaged: Where patches overlap, their gradients are averaged instead of added.
def overlapping_patches_backward(dy, shape, patch, stride):
    count = solution.overlapping_patches_backward(np.ones_like(dy), shape, patch, stride)
    return solution.overlapping_patches_backward(dy, shape, patch, stride) / np.maximum(count, 1)

? overlaps_overwritten: Where patches overlap, the last one wins instead of all being added.
- dx[:, p : p + rows * stride : stride, q : q + columns * stride : stride] += pieces[:, :, :, p, q]
+ dx[:, p : p + rows * stride : stride, q : q + columns * stride : stride] = pieces[:, :, :, p, q]

? overlaps_overwritten_patch_by_patch: Where patches overlap, the gradient of the last one is written over the
  others instead of added to them.
def overlapping_patches_backward(dy, shape, patch, stride):
    B, _, W, C = shape
    columns = (W - patch) // stride + 1
    dx = np.zeros(shape, dy.dtype)
    for number in range(dy.shape[1]):
        top, left = number // columns * stride, number % columns * stride
        dx[:, top : top + patch, left : left + patch] = dy[:, number].reshape(B, patch, patch, C)
    return dx

? patches_column_by_column: The patches are numbered down the columns of the image instead of along its rows.
def patchify(images, patch):
    B, H, W, C = images.shape
    if H % patch or W % patch:
        raise ValueError(f"image of {H} x {W} pixels cannot be cut into patches of {patch} x {patch}")
    x = images.reshape(B, H // patch, patch, W // patch, patch, C).transpose(0, 3, 1, 2, 4, 5)
    return x.reshape(B, -1, patch * patch * C), (images.shape, patch)

def unpatchify(patches, shape, patch):
    B, H, W, C = shape
    x = patches.reshape(B, W // patch, H // patch, patch, patch, C).transpose(0, 2, 3, 1, 4, 5)
    return x.reshape(shape)

def patchify_backward(dy, cache):
    return unpatchify(dy, *cache)

? patches_turned_over: Within each patch, rows and columns are exchanged.
def patchify(images, patch):
    B, H, W, C = images.shape
    if H % patch or W % patch:
        raise ValueError(f"image of {H} x {W} pixels cannot be cut into patches of {patch} x {patch}")
    x = images.reshape(B, H // patch, patch, W // patch, patch, C).transpose(0, 1, 3, 4, 2, 5)
    return x.reshape(B, -1, patch * patch * C), (images.shape, patch)

def unpatchify(patches, shape, patch):
    B, H, W, C = shape
    x = patches.reshape(B, H // patch, W // patch, patch, patch, C).transpose(0, 1, 4, 2, 3, 5)
    return x.reshape(shape)

def patchify_backward(dy, cache):
    return unpatchify(dy, *cache)

? positions_shifted: dx is the first T rows of dy: every patch gets the gradient of the position before it.
def class_token_backward(dy, cache):
    return dy[:, :-1], dy[:, 0].sum(axis=0)

? reshape_without_transpose: A reshape alone, where a transpose is needed too: each "patch" is a stretch of
  pixel rows.
def patchify(images, patch):
    B, H, W, C = images.shape
    if H % patch or W % patch:
        raise ValueError(f"image of {H} x {W} pixels cannot be cut into patches of {patch} x {patch}")
    return images.reshape(B, -1, patch * patch * C), (images.shape, patch)

def unpatchify(patches, shape, patch):
    return patches.reshape(shape)

def patchify_backward(dy, cache):
    return unpatchify(dy, *cache)

? rest_cut_off: Pixels that do not fill a patch are cut off without a word.
def patchify(images, patch):
    _, H, W, _ = images.shape
    return solution.patchify(images[:, : H - H % patch, : W - W % patch], patch)

? rows_and_columns_exchanged: The patches are taken to be numbered down the columns.
- reshape(B, rows, columns, D)
+ reshape(B, columns, rows, D).swapaxes(1, 2)

? square_grid: Patch rows and columns are mixed up when the image is put together: a square image hides it.
def unpatchify(patches, shape, patch):
    B, H, W, C = shape
    x = patches.reshape(B, W // patch, H // patch, patch, patch, C)
    return x.transpose(0, 1, 3, 2, 4, 5).reshape(shape)

def patchify_backward(dy, cache):
    return unpatchify(dy, *cache)

? table_gradient_averaged: The gradient of the table is the mean over the images.
def position_embedding_backward(dy, cache):
    return dy, dy.mean(axis=0)

? table_gradient_of_each_image: The gradient of the table keeps the axis of images.
def position_embedding_backward(dy, cache):
    return dy, dy

? table_gradient_summed_over_positions: The gradient of the table is summed over the positions, and every
  place gets the same.
def position_embedding_backward(dy, cache):
    return dy, np.broadcast_to(dy.sum(axis=(0, 1)), dy.shape[1:])

? token_at_the_end: The token is put behind the patches instead of before them.
def class_token(x, token):
    return np.concatenate([x, np.broadcast_to(token, (len(x), 1, len(token)))], axis=1), None

def class_token_backward(dy, cache):
    return dy[:, :-1], dy[:, -1].sum(axis=0)

? token_gradient_averaged: The gradient of the token is the mean over the images.
def class_token_backward(dy, cache):
    return dy[:, 1:], dy[:, 0].mean(axis=0)

? token_gradient_of_all_positions: The gradient of the token is summed over the positions too, as if it had
  been added to every one.
def class_token_backward(dy, cache):
    return dy[:, 1:], dy.sum(axis=(0, 1))

? token_gradient_of_each_image: The gradient of the token keeps the axis of images.
def class_token_backward(dy, cache):
    return dy[:, 1:], dy[:, 0]

? token_gradient_with_an_axis: The gradient of the token keeps an axis of length 1.
def class_token_backward(dy, cache):
    return dy[:, 1:], dy[:, :1].sum(axis=0)

? token_has_no_position: The table gets no gradient at position 0, as if the token had no position.
def position_embedding_backward(dy, cache):
    dembedding = dy.sum(axis=0)
    dembedding[0] = 0
    return dy, dembedding

? trusts_a_single_patch: trust_class_token looks at images of a single patch.
- rng.normal(size=(3, 4, 5))
+ rng.normal(size=(3, 1, 5))

? zeros_of_float64: The row of tokens is collected in np.zeros without a dtype, which is float64.
def class_token(x, token):
    B, T, D = x.shape
    y = np.zeros((B, T + 1, D))
    y[:, 0], y[:, 1:] = token, x
    return y, None
"""
