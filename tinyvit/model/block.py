"""One Transformer block, pre-norm (ViT eq. 2 and 3), forward and backward.

    x' = x  + attention(LayerNorm(x))                                                      (1)
    y  = x' + MLP(LayerNorm(x'))                                                           (2)

Backward. In y = x + f(x) the gradient takes both roads, and they add:

    dx = dy + (gradient of f at dy)                                                        (3)

The first term is why deep stacks of blocks can be trained: nothing stands between the loss and the first
layer.
"""

from __future__ import annotations

from tinyvit import ops
from tinyvit.backend import Array
from tinyvit.model.config import ViTConfig
from tinyvit.model.params import Params


def block(
    params: Params, config: ViTConfig, i: int, x: Array, noise: ops.Noise | None, rows: int | None = None
) -> tuple[Array, tuple]:
    """Block number i: x (B, N, D) to y (B, N, D), and the cache. Noise is given in training only.

    rows R, if given, has only the first R tokens go on, y (B, R, D): all N are still listened to.
    """
    p = f"blocks.{i}."
    rate = config.drop_path_rate(i)

    n, norm1 = ops.layer_norm(x, params[p + "norm1.weight"], params[p + "norm1.bias"], config.eps)
    a, attn = ops.attention(
        n,
        params[p + "attn.qkv.weight"],
        params[p + "attn.qkv.bias"],
        params[p + "attn.out.weight"],
        params[p + "attn.out.bias"],
        config.heads,
        rows,
        config.attention_dropout,
        noise,
    )
    a, drop1 = ops.dropout(a, config.dropout, noise)
    a, path1 = ops.drop_path(a, rate, noise)
    x = x[:, :rows] + a  # (B, R, D)                                                         eq. 1

    n, norm2 = ops.layer_norm(x, params[p + "norm2.weight"], params[p + "norm2.bias"], config.eps)
    m, mlp = ops.mlp(
        n,
        params[p + "mlp.fc1.weight"],
        params[p + "mlp.fc1.bias"],
        params[p + "mlp.fc2.weight"],
        params[p + "mlp.fc2.bias"],
        config.gelu,
        config.dropout,
        noise,
    )
    m, drop2 = ops.dropout(m, config.dropout, noise)
    m, path2 = ops.drop_path(m, rate, noise)
    return x + m, (norm1, attn, drop1, path1, norm2, mlp, drop2, path2)  #                   eq. 2


def block_backward(dy: Array, cache: tuple, i: int, grads: Params) -> Array:
    """Gradient of block number i: dy (B, R, D) to dx (B, N, D); adds the parameters' gradients to grads."""
    norm1, attn, drop1, path1, norm2, mlp, drop2, path2 = cache
    p = f"blocks.{i}."

    dm = ops.drop_path_backward(dy, path2)
    dm = ops.dropout_backward(dm, drop2)
    dn, *dweights = ops.mlp_backward(dm, mlp)
    add_all(grads, p, ("mlp.fc1.weight", "mlp.fc1.bias", "mlp.fc2.weight", "mlp.fc2.bias"), dweights)
    dmiddle, *dweights = ops.layer_norm_backward(dn, norm2)
    add_all(grads, p, ("norm2.weight", "norm2.bias"), dweights)
    dmiddle += dy  # (B, R, D)                                                               eq. 3

    da = ops.drop_path_backward(dmiddle, path1)
    da = ops.dropout_backward(da, drop1)
    dn, *dweights = ops.attention_backward(da, attn)
    add_all(grads, p, ("attn.qkv.weight", "attn.qkv.bias", "attn.out.weight", "attn.out.bias"), dweights)
    dx, *dweights = ops.layer_norm_backward(dn, norm1)
    add_all(grads, p, ("norm1.weight", "norm1.bias"), dweights)
    dx[:, : dmiddle.shape[1]] += dmiddle  # (B, N, D)                                        eq. 3
    return dx


def add_all(grads: Params, prefix: str, names: tuple[str, ...], values: list[Array]) -> None:
    """Add each value to the gradient of prefix + name."""
    for name, value in zip(names, values, strict=True):
        grads.add(prefix + name, value)
