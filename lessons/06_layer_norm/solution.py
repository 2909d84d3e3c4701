"""The library's own LayerNorm is the model answer; the way through the graph is written out here."""

from tinyvit.ops import layer_norm, layer_norm_backward

__all__ = ["layer_norm", "layer_norm_backward", "layer_norm_backward_graph"]


def layer_norm_backward_graph(dy, cache):
    """The three gradients, each path from x to n by itself."""
    n, r, weight = cache  # (..., D), (..., 1), (D,)
    g = dy * weight  # (..., D)  the gradient that reaches n
    direct = g * r  # eq. 3
    through_mean = -(g * r).mean(axis=-1, keepdims=True)  # eq. 4: the mean was subtracted from every entry
    through_r = -r * n * (g * n).mean(axis=-1, keepdims=True)  # eq. 5
    rows = tuple(range(dy.ndim - 1))
    return direct + through_mean + through_r, (dy * n).sum(axis=rows), dy.sum(axis=rows)
