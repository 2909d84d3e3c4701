"""resize_matrix is the library's own; the rest is written out (in the library, tables of names do it)."""

import numpy as np

from tinyvit.gradcheck import TOLERANCE, check_gradients
from tinyvit.ops.resize import resize_matrix

__all__ = ["attention_from_official", "embedding_for_our_pixels", "resize_matrix", "trust_resize"]


def attention_from_official(query, key, value, out):
    out_kernel, out_bias = out
    D = out_kernel.shape[-1]
    kernels, biases = zip(query, key, value, strict=True)
    qkv_weight = np.concatenate([kernel.reshape(D, D) for kernel in kernels], axis=1)  # eq. a
    qkv_bias = np.concatenate([bias.reshape(D) for bias in biases])
    return qkv_weight, qkv_bias, out_kernel.reshape(D, D), out_bias.copy()  #            eq. b


def trust_resize(forward, backward):
    """Larger, smaller, one direction of each, to one point; square and not; both methods."""
    rng = np.random.default_rng(0)
    for method in ("corners", "bilinear"):
        for old, new in (
            ((3, 4), (5, 7)),
            ((5, 4), (3, 2)),
            ((4, 4), (6, 3)),
            ((3, 3), (1, 1)),
            ((2, 3), (3, 2)),
        ):
            images = rng.normal(size=(2, *old, 3))
            resize = lambda x, new=new, method=method: forward(x, new, method)
            if not max(check_gradients(resize, backward, (images,), rng)) < TOLERANCE:
                return False
    return True


def embedding_for_our_pixels(weight, bias, mean, std):
    """u = (x + 1) / 2, so (u - mean) / std = x (0.5 / std) + (0.5 - mean) / std."""
    mean, std = np.asarray(mean, np.float64), np.asarray(std, np.float64)
    patches = len(weight) // len(mean)
    scale, shift = np.tile(0.5 / std, patches), np.tile((0.5 - mean) / std, patches)
    return (weight * scale[:, None]).astype(weight.dtype), (bias + shift @ weight).astype(bias.dtype)
