"""Corrupting patch embeddings, so that a model can learn to predict them (ViT appendix B.1.2, after BERT).

Of the T patches of an image, n are chosen at random. The embedding of a chosen patch is replaced by a learned
vector m with probability 80 %, by the embedding of another patch of the same image with probability 10 %, and
stays as it is otherwise. Let s(t) be the patch that position t shows, or MASKED:

    y_t = m           if s(t) is MASKED
    y_t = x_s(t)      otherwise; s(t) = t for most patches                                 (1)

Written with a matrix S, where S_tj = 1 if s(t) = j and 0 otherwise (the row of a masked patch is all zeros),

    y = S x + (1 - S 1) m^T                                                                (2)

Backward. (2) is linear in x and in m, so

    dx = S^T dy                                                                            (3)
    dm = sum of dy_t over all masked t of all images                                       (4)

A patch that is shown in two places gets the gradients of both; one that is masked, and shown nowhere else,
gets none.
"""

from types import ModuleType
from typing import NamedTuple

from tinyvit.backend import Array, array_module
from tinyvit.ops.noise import Noise, draw_rows

MASKED = -1
MASKED_SHARE, SWAPPED_SHARE = 0.8, 0.1  # of the chosen patches; the rest stay as they are


class Corruption(NamedTuple):
    """The corrupted patches of each image, and what every patch shows.

    chosen (B, n): the n corrupted patches of each image. source (B, T): s(t), the patch that position t
    shows, or MASKED.
    """

    chosen: Array
    source: Array


def corrupted_patches(share: float, patches: int) -> int:
    """share * patches, rounded down; 29 % of 100 are 29, although 0.29 is stored as a little less."""
    return int(share * patches + 1e-9)


def draw_corruption(noise: Noise, images: int, patches: int, share: float, xp: ModuleType) -> Corruption:
    """A random corruption of exactly corrupted_patches(share, patches) patches of each image.

    The choices depend only on the noise's seed and step and the index of the image, on every device.
    """
    own = xp.arange(patches)
    chosen = draw_rows(noise, images, patches, corrupted_patches(share, patches), xp)  # (B, n)
    fate = noise.uniform(chosen.shape, xp)
    other = (noise.uniform(chosen.shape, xp) * (patches - 1)).astype(xp.int64)
    other += other >= chosen  # any patch but the chosen one, of which there are two or more
    shown = xp.where(fate < MASKED_SHARE + SWAPPED_SHARE, other, chosen)
    shown = xp.where(fate < MASKED_SHARE, MASKED, shown)
    source = xp.broadcast_to(own, (images, patches)).copy()
    source[xp.arange(images)[:, None], chosen] = shown
    return Corruption(chosen, source)


def corrupt(x: Array, mask_token: Array, source: Array) -> tuple[Array, Array]:
    """Patch embeddings x (B, T, D) as `source` (B, T) says, with mask_token (D,) in place of masked ones.

    Returns y (B, T, D) and the cache.
    """
    xp = array_module(x)
    shown = xp.take_along_axis(x, xp.maximum(source, 0)[:, :, None], axis=1)
    return xp.where((source == MASKED)[:, :, None], mask_token, shown), source  #            eq. 1


def corrupt_backward(dy: Array, cache: Array) -> tuple[Array, Array]:
    """Gradients of corrupt: dx (B, T, D), dmask_token (D,)."""
    source, (_, T, D) = cache, dy.shape
    S = (source[:, :, None] == array_module(dy).arange(T)).astype(dy.dtype)  # (B, T, T)
    dx = S.transpose(0, 2, 1) @ dy  #                                                        eq. 3
    masked = (source == MASKED).astype(dy.dtype)  # (B, T)
    return dx, masked.reshape(-1) @ dy.reshape(-1, D)  #                                     eq. 4
