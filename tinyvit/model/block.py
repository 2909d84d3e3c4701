"""One Transformer block, pre-norm (ViT eq. 2 and 3), forward and backward.

    x' = x  + attention(LayerNorm(x))                                                      (1)
    y  = x' + MLP(LayerNorm(x'))                                                           (2)

Backward. In y = x + f(x) the gradient flows through both the skip connection and f, and the two add up:

    dx = dy + (gradient of f at dy)                                                        (3)

The first term is why deep stacks of blocks can be trained: the gradient reaches the first layer undiminished.

In some models, a position embedding is added to x first. What the attention and the MLP of other models than
the paper's do besides is in model.later.
"""

from typing import NamedTuple

from tinyvit import ops
from tinyvit.backend import Array
from tinyvit.model import later
from tinyvit.model.config import ViTConfig
from tinyvit.model.params import Params
from tinyvit.model.positions import PositionCache, add_positions, add_positions_backward


class BranchEnd(NamedTuple):
    """What the backward pass of the end of a branch needs; None for what was not done."""

    scale: tuple | None
    dropout: Array | None
    path: Array | None


class BlockCache(NamedTuple):
    """What the backward pass of a block needs, one entry per operation."""

    config: ViTConfig
    position: PositionCache | None
    norm1: tuple
    attention: tuple
    end1: BranchEnd
    norm2: tuple
    mlp: tuple
    end2: BranchEnd


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
    p = f"blocks.{i}"
    x, position = add_positions(config, params, x, i)  # x itself, unless every block adds positions

    n, norm1 = ops.layer_norm(x, *params.group(f"{p}.norm1"), config.eps)
    weights, options = later.attention_arguments(config, params, i)  # params.group(f"{p}.attn"), and {}
    a, attention = ops.attention(n, *weights, config.heads, rows, config.attention_dropout, noise, **options)
    a, end1 = _end_of_branch(config, params, i, "scale1", a, noise)
    x = x[:, :rows] + a  # (B, R, D)                                               eq. 1 (ViT eq. 2)

    n, norm2 = ops.layer_norm(x, *params.group(f"{p}.norm2"), config.eps)
    options = later.mlp_options(config, params, i)
    m, mlp = ops.mlp(n, *params.group(f"{p}.mlp"), config.gelu, config.dropout, noise, **options)
    m, end2 = _end_of_branch(config, params, i, "scale2", m, noise)
    y = x + m  # (B, R, D)                                                         eq. 2 (ViT eq. 3)
    return y, BlockCache(config, position, norm1, attention, end1, norm2, mlp, end2)


def block_backward(i: int, dy: Array, cache: BlockCache, grads: Params) -> Array:
    """Gradient of block number i: dy (B, R, D) to dx (B, N, D); adds the parameter gradients to grads."""
    p, config = f"blocks.{i}", cache.config

    dm = _end_of_branch_backward(i, "scale2", dy, cache.end2, grads)
    dn, *dmlp = ops.mlp_backward(dm, cache.mlp)
    later.add_mlp(config, i, dmlp, grads)
    dx, *dnorm2 = ops.layer_norm_backward(dn, cache.norm2)
    grads.add(f"{p}.norm2", *dnorm2)
    dx += dy  # (B, R, D)                                                                    eq. 3

    da = _end_of_branch_backward(i, "scale1", dx, cache.end1, grads)
    dn, *dattention = ops.attention_backward(da, cache.attention)
    later.add_attention(config, i, dattention, grads)
    dall, *dnorm1 = ops.layer_norm_backward(dn, cache.norm1)  # (B, N, D)
    grads.add(f"{p}.norm1", *dnorm1)
    dall[:, : dx.shape[1]] += dx  # the first R of N tokens                                   eq. 3
    return add_positions_backward(dall, cache.position, grads)


def _end_of_branch(
    config: ViTConfig, params: Params, i: int, scale: str, x: Array, noise: ops.Noise | None
) -> tuple[Array, BranchEnd]:
    """A branch as it is added: after LayerScale, dropout and stochastic depth, where they are on."""
    x, scaled = ops.layer_scale(x, params[f"blocks.{i}.{scale}"]) if config.layer_scale else (x, None)
    x, dropout = ops.dropout(x, config.dropout, noise)
    x, path = ops.drop_path(x, config.drop_path_rate(i), noise)
    return x, BranchEnd(scaled, dropout, path)


def _end_of_branch_backward(i: int, scale: str, dx: Array, cache: BranchEnd, grads: Params) -> Array:
    dx = ops.drop_path_backward(dx, cache.path)
    dx = ops.dropout_backward(dx, cache.dropout)
    if cache.scale is None:
        return dx
    dx, dgain = ops.layer_scale_backward(dx, cache.scale)
    grads.add(f"blocks.{i}.{scale}", dgain)
    return dx
