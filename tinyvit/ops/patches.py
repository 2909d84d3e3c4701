"""Cut an image into square patches, and put it back together (ViT section 3.1).

An image x (H, W, C) becomes T = (H/P)(W/P) rows, each holding the P P C numbers of one patch in the order
(row in the patch, column in the patch, channel). For pixel (p, q) of the patch in patch row r, column c:

    y[r (W/P) + c, (p P + q) C + k] = x[r P + p, c P + q, k]                               (1)

In arrays: split each spatial axis in two, move the patch axes to the front, flatten.

Backward. (1) copies every number to exactly one place, so y = Q x for a permutation matrix Q, and

    dx = Q^T dy = Q^-1 dy                                                                  (2)

The gradient is copied back where it came from: the backward pass of patchify is unpatchify, and vice versa.
"""

from tinyvit.backend import Array


def patchify(images: Array, patch: int) -> tuple[Array, tuple]:
    """Patches of images.

    images (B, H, W, C); returns (B, T, P*P*C) and the cache. Raises ValueError unless H and W are multiples
    of the patch size P.
    """
    B, H, W, C = images.shape
    if H % patch or W % patch:
        raise ValueError(f"image of {H} x {W} pixels cannot be cut into patches of {patch} x {patch}")
    rows, columns = H // patch, W // patch
    x = images.reshape(B, rows, patch, columns, patch, C)
    x = x.transpose(0, 1, 3, 2, 4, 5)  # (B, rows, columns, P, P, C)                      eq. 1
    return x.reshape(B, rows * columns, patch * patch * C), (images.shape, patch)


def patchify_backward(dy: Array, cache: tuple) -> Array:
    """Gradient of patchify: dimages (B, H, W, C) from dy (B, T, P*P*C)."""
    shape, patch = cache
    return unpatchify(dy, shape, patch)  #                                                   eq. 2


def unpatchify(patches: Array, shape: tuple[int, int, int, int], patch: int) -> Array:
    """Images of the given shape (B, H, W, C) from their patches (B, T, P*P*C): the inverse of patchify."""
    B, H, W, C = shape
    x = patches.reshape(B, H // patch, W // patch, patch, patch, C)
    return x.transpose(0, 1, 3, 2, 4, 5).reshape(shape)
