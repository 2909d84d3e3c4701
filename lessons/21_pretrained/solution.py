"""The first is written out (in the library a table of names does it); the others are the library's own."""

import numpy as np

from tinyvit.analysis.few_shot import ridge_weights
from tinyvit.ops.resize import resize_matrix

__all__ = ["attention_from_official", "resize_matrix", "ridge_weights"]


def attention_from_official(query, key, value, out):
    out_kernel, out_bias = out
    D = out_kernel.shape[-1]
    kernels, biases = zip(query, key, value, strict=True)
    qkv_weight = np.concatenate([kernel.reshape(D, D) for kernel in kernels], axis=1)  # eq. 1
    qkv_bias = np.concatenate([bias.reshape(D) for bias in biases])
    return qkv_weight, qkv_bias, out_kernel.reshape(D, D), out_bias.copy()  #            eq. 2
