"""The gradient of the offset keeps the rows instead of adding them up."""

from tinyvit.ops import layer_norm
from tinyvit.ops import layer_norm_backward as right

__all__ = ["layer_norm", "layer_norm_backward", "layer_norm_backward_graph"]


def layer_norm_backward(dy, cache):
    dx, dweight, _ = right(dy, cache)
    return dx, dweight, dy


layer_norm_backward_graph = layer_norm_backward
