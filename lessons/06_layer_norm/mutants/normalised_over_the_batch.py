"""Mean and variance over the first axis: that is batch normalisation."""

import numpy as np

from tinyvit.ops import layer_norm_backward

__all__ = ["layer_norm", "layer_norm_backward", "layer_norm_backward_graph"]


def layer_norm(x, weight, bias, eps=1e-6):
    r = 1 / np.sqrt(x.var(axis=0, keepdims=True) + eps)
    n = (x - x.mean(axis=0, keepdims=True)) * r
    return n * weight + bias, (n, r, weight)


layer_norm_backward_graph = layer_norm_backward
