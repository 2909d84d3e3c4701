"""Position embeddings: what tells the tokens apart, and where it is added (ViT eq. 1 and appendix D.4).

    config.position                                     parameters
    1d          a vector for each token                 position (N, D)
    2d          one for each row and each column        position.rows (gh, D/2), position.columns (gw, D/2)
    sincos      sines and cosines of row and column     none
    relative    a vector for each offset of tokens      position (2N - 1, K)
    bias        a score for each offset in the plane    position ((2 gh - 1)(2 gw - 1) + 3, H)
    none        nothing                                 none

The first three are tables (N, D), which are added to the tokens. In 2d and sincos, the class token has a row
of zeros, since it lies in no row or column of patches; registers have one in 1d too. Relative positions are
not added to the tokens, but take part in the attention of each block: see ops.relative_scores.

    config.position_at
    stem        added once, before the first block
    shared      the same table, added before every block
    blocks      a table for each block, added before it; its parameters are called blocks.i.position

Backward. The gradient passes to the tokens unchanged, and summed over the images to the table. Every block
adds to the gradient of a shared table, so that it is the sum of the gradients that separate tables, all equal
to it, would have.
"""

from typing import NamedTuple

from tinyvit import ops
from tinyvit.backend import Array, array_module
from tinyvit.model.config import ViTConfig
from tinyvit.model.params import Params


class PositionCache(NamedTuple):
    """What the backward pass of learned positions needs.

    part is the name of their parameters, and grid that of patches for 2d, otherwise None. A table has rows
    for so many of the tokens before the patches: see ViTConfig.position_rows.
    """

    part: str
    grid: tuple[int, int] | None
    prefix: int
    rows: int


def position_table(
    config: ViTConfig, params: Params, block: int | None = None
) -> tuple[Array | None, PositionCache | None]:
    """The table (N, D) that is added before a block, or at the stem if block is None; and the cache.

    The table is None if nothing is added there, and the cache if nothing is learned.
    """
    if config.position in ("relative", "bias", "none") or (config.position_at == "stem") != (block is None):
        return None, None
    part = _part(config, block)
    if config.position == "1d":
        rows = config.position_rows
        return _for_all(config, params[part], rows), PositionCache(part, None, config.prefix, rows)
    if config.position == "2d":
        table, grid = ops.positions_2d(*params.group(part))
        return _for_all(config, table, 0), PositionCache(part, grid, config.prefix, 0)
    xp = array_module(params.flat)
    table = xp.asarray(ops.positions_sincos(config.grid, config.width), dtype=params.flat.dtype)
    return _for_all(config, table, 0), None


def add_positions(
    config: ViTConfig, params: Params, x: Array, block: int | None = None
) -> tuple[Array, PositionCache | None]:
    """Add what belongs before a block, or at the stem if block is None, to tokens x (B, N, D)."""
    table, cache = position_table(config, params, block)
    if table is None:
        return x, None
    return ops.position_embedding(x, table)[0], cache


def add_positions_backward(dx: Array, cache: PositionCache | None, grads: Params) -> Array:
    """Gradient of add_positions: dx (B, N, D); adds those of the parameters to grads."""
    if cache is None:
        return dx
    dx, dtable = ops.position_embedding_backward(dx, None)  # (B, N, D), (N, D)
    if cache.grid:
        grads.add(cache.part, *ops.positions_2d_backward(dtable[cache.prefix :], cache.grid))
    elif cache.rows == cache.prefix:
        grads.add(cache.part, dtable)
    else:
        xp = array_module(dtable)
        grads.add(cache.part, xp.concatenate([dtable[: cache.rows], dtable[cache.prefix :]]))
    return dx


def bias_part(config: ViTConfig, block: int) -> str | None:
    """The name of the table of scores that a block's attention adds, if there is one."""
    return _part(config, block) if config.position == "bias" else None


def relative_part(config: ViTConfig, block: int) -> str | None:
    """The name of the table of relative positions that a block's attention reads, if there is one."""
    return _part(config, block) if config.position == "relative" else None


def _part(config: ViTConfig, block: int | None) -> str:
    return f"blocks.{block}.position" if config.position_at == "blocks" else "position"


def _for_all(config: ViTConfig, table: Array, rows: int) -> Array:
    """A table (rows + T, D) with zeros for the tokens before the patches that it has no rows for: (N, D)."""
    if rows == config.prefix:
        return table
    xp = array_module(table)
    zeros = xp.zeros((config.prefix - rows, config.width), dtype=table.dtype)
    return xp.concatenate([table[:rows], zeros, table[rows:]])
