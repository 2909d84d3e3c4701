"""One Transformer block, pre-norm (ViT eq. 2 and 3), forward and backward.

    x' = x  + attention(LayerNorm(x))                                                      (1)
    y  = x' + MLP(LayerNorm(x'))                                                           (2)

Backward. In y = x + f(x) the gradient flows through both the skip connection and f, and the two add up:

    dx = dy + (gradient of f at dy)                                                        (3)

The first term is why deep stacks of blocks can be trained: the gradient reaches the first layer undiminished.

In some models, a position embedding is added to x first, or relative positions take part in the attention:
see model.positions. Later ViTs have more: see model.later.
"""

from typing import NamedTuple

from tinyvit import ops
from tinyvit.backend import Array
from tinyvit.model import later
from tinyvit.model.config import ViTConfig
from tinyvit.model.params import Params
from tinyvit.model.positions import PositionCache, add_positions, add_positions_backward, relative_part


class BlockCache(NamedTuple):
    """What the backward pass of a block needs, one entry per operation.

    relative is the name of its table of relative positions, if it has one.
    """

    config: ViTConfig

    position: PositionCache | None
    relative: str | None
    norm1: tuple
    attention: tuple
    scale1: tuple | None
    dropout1: Array | None
    path1: Array | None
    norm2: tuple
    mlp: tuple
    scale2: tuple | None
    dropout2: Array | None
    path2: Array | None


def block(
    config: ViTConfig,
    params: Params,
    i: int,
    x: Array,
    noise: ops.Noise | None = None,
    rows: int | None = None,
) -> tuple[Array, BlockCache]:
    """Block number i: x (B, N, D) to y (B, N, D), and the cache. Pass noise only in training.

    If rows R is given, y (B, R, D) holds only the first R tokens; they still attend to all N.
    """
    p, rate = f"blocks.{i}", config.drop_path_rate(i)

    x, position = add_positions(config, params, x, i)
    relative = relative_part(config, i)
    table = params.group(relative) if relative else ()

    n, norm1 = ops.layer_norm(x, *params.group(f"{p}.norm1"), config.eps)
    weights, extras = later.attention_weights(config, params, p), later.attention_extras(config, params, i)
    a, attention = ops.attention(
        n, *weights, config.heads, rows, config.attention_dropout, noise, *table, **extras
    )
    a, scale1 = later.scale(config, params, f"{p}.scale1", a)
    a, dropout1 = ops.dropout(a, config.dropout, noise)
    a, path1 = ops.drop_path(a, rate, noise)
    x = x[:, :rows] + a  # (B, R, D)                                                         eq. 1

    n, norm2 = ops.layer_norm(x, *params.group(f"{p}.norm2"), config.eps)
    extras = later.mlp_extras(config, params, p)
    m, mlp = ops.mlp(n, *params.group(f"{p}.mlp"), config.gelu, config.dropout, noise, **extras)
    m, scale2 = later.scale(config, params, f"{p}.scale2", m)
    m, dropout2 = ops.dropout(m, config.dropout, noise)
    m, path2 = ops.drop_path(m, rate, noise)
    y = x + m  # (B, R, D)                                                                   eq. 2
    first = (norm1, attention, scale1, dropout1, path1)
    return y, BlockCache(config, position, relative, *first, norm2, mlp, scale2, dropout2, path2)


def block_backward(i: int, dy: Array, cache: BlockCache, grads: Params) -> Array:
    """Gradient of block number i: dy (B, R, D) to dx (B, N, D); adds the parameter gradients to grads."""
    p, config = f"blocks.{i}", cache.config

    dm = ops.drop_path_backward(dy, cache.path2)
    dm = ops.dropout_backward(dm, cache.dropout2)
    dm = later.scale_backward(dm, cache.scale2, f"{p}.scale2", grads)
    dn, *dmlp = ops.mlp_backward(dm, cache.mlp)
    grads.add(f"{p}.mlp", *dmlp[:4])
    if config.mlp_norm:
        grads.add(f"{p}.mlp_norm", *dmlp[4:])
    dx, *dnorm2 = ops.layer_norm_backward(dn, cache.norm2)
    grads.add(f"{p}.norm2", *dnorm2)
    dx += dy  # (B, R, D)                                                                    eq. 3

    da = ops.drop_path_backward(dx, cache.path1)
    da = ops.dropout_backward(da, cache.dropout1)
    da = later.scale_backward(da, cache.scale1, f"{p}.scale1", grads)
    dn, *dattention = ops.attention_backward(da, cache.attention)
    if isinstance(dattention[-1], ops.ExtraGrads):
        later.add_extras(config, dattention.pop(), i, grads)
    if cache.relative:
        grads.add(cache.relative, dattention.pop())
    later.add_attention(config, dattention, p, grads)
    dall, *dnorm1 = ops.layer_norm_backward(dn, cache.norm1)  # (B, N, D)
    grads.add(f"{p}.norm1", *dnorm1)
    dall[:, : dx.shape[1]] += dx  # the first R of N tokens                                   eq. 3
    return add_positions_backward(dall, cache.position, grads)
