"""One Transformer block, pre-norm (ViT eq. 2 and 3), forward and backward.

    x' = x  + attention(LayerNorm(x))                                                      (1)
    y  = x' + MLP(LayerNorm(x'))                                                           (2)

Backward. In y = x + f(x) the gradient flows through both the skip connection and f, and the two add up:

    dx = dy + (gradient of f at dy)                                                        (3)

The first term is why deep stacks of blocks can be trained: the gradient reaches the first layer undiminished.
"""

from tinyvit import ops
from tinyvit.backend import Array
from tinyvit.model.params import Params


def block(params: Params, name: str, x: Array, heads: int, gelu: str, eps: float) -> tuple[Array, tuple]:
    """The block whose parameters begin with name: x (B, N, D) to y (B, N, D), and the cache."""
    n, norm1 = ops.layer_norm(x, *params.group(f"{name}.norm1"), eps)
    a, attention = ops.attention(n, *params.group(f"{name}.attn"), heads)
    x = x + a  # (B, N, D)                                                         eq. 1 (ViT eq. 2)
    n, norm2 = ops.layer_norm(x, *params.group(f"{name}.norm2"), eps)
    m, mlp = ops.mlp(n, *params.group(f"{name}.mlp"), gelu)
    y = x + m  # (B, N, D)                                                         eq. 2 (ViT eq. 3)
    return y, (norm1, attention, norm2, mlp)


def block_backward(dy: Array, cache: tuple, grads: Params, name: str) -> Array:
    """Gradient of block: dy (B, N, D) to dx (B, N, D); adds the gradients of its parameters to grads."""
    norm1, attention, norm2, mlp = cache
    dn, *dmlp = ops.mlp_backward(dy, mlp)
    dmid, *dnorm2 = ops.layer_norm_backward(dn, norm2)
    dmid += dy  # of x' (B, N, D)                                                            eq. 3
    dn, *dattention = ops.attention_backward(dmid, attention)
    dx, *dnorm1 = ops.layer_norm_backward(dn, norm1)
    dx += dmid  # (B, N, D)                                                                  eq. 3
    grads.add(f"{name}.mlp", *dmlp)
    grads.add(f"{name}.norm2", *dnorm2)
    grads.add(f"{name}.attn", *dattention)
    grads.add(f"{name}.norm1", *dnorm1)
    return dx
