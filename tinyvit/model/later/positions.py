"""Other position embeddings than the paper's main one (ViT appendix D.4), and other places for them.

    config.position                                     parameters
    1d          a vector for each token                 position (N, D)
    2d          one for each row and each column        position.rows (gh, D/2), position.columns (gw, D/2)
    sincos      sines and cosines of row and column     none
    none        nothing                                 none

Each is a table (N, D), which is added to the tokens. In 2d and sincos, the class token has a row of zeros,
since it lies in no row or column of patches; so have, in 1d, the tokens that config.position_on leaves out.
For relative and bias, which take part in the attention of each block, see relative_positions.

    config.position_at
    stem        added once, before the first block
    shared      the same table, added before every block
    blocks      a table for each block, added before it; its parameters are called blocks.i.position

Backward. The gradient passes to the tokens unchanged, and summed over the images to the table. Every block
adds to the gradient of a shared table, so that it is the sum of the gradients that separate tables, all equal
to it, would have.
"""

from dataclasses import replace

from tinyvit import ops
from tinyvit.backend import Array, array_module
from tinyvit.model import distributions
from tinyvit.model.config import ViTConfig
from tinyvit.model.later.part import Part, Place, Specs, Stages, Step, index_of, instead
from tinyvit.model.layout import ParamSpec
from tinyvit.model.params import Params
from tinyvit.model.stage import Stage

ADDED = ("1d", "2d", "sincos")  # the kinds that are added to the tokens


def position_table(config: ViTConfig, params: Params, block: int | None = None) -> Array | None:
    """The table (N, D) that is added before a block, or at the stem if block is None; None if nothing is."""
    if config.position not in ADDED or (config.position_at == "stem") != (block is None):
        return None
    part, xp = part_of(config, block), array_module(params.flat)
    if config.position == "1d":
        return _for_all(config, params[part], config.position_rows)
    if config.position == "2d":
        return _for_all(config, ops.positions_2d(*params.group(part))[0], 0)
    table = ops.positions_sincos(config.grid, config.width)
    return _for_all(config, xp.asarray(table, dtype=params.flat.dtype), 0)


def part_of(config: ViTConfig, block: int | None) -> str:
    """The name of the position parameters that a block uses, or the stem."""
    return f"blocks.{block}.position" if config.position_at == "blocks" else "position"


def position_specs(config: ViTConfig, place: Place, specs: Specs, shapes: dict[str, tuple]) -> Specs:
    """The specs of a place with tables in it, if that is their place: shapes by the end of their names."""
    new = [
        ParamSpec(f"{part_of(config, place.block)}{name}", shape, distributions.small_normal)
        for name, shape in shapes.items()
    ]
    if place.kind == "stem":
        return instead(specs, "position", *(new if config.position_at != "blocks" else ()))
    return [*new, *specs] if config.position_at == "blocks" else specs


def _for_all(config: ViTConfig, table: Array, rows: int) -> Array:
    """A table (rows + T, D) with zeros for the tokens before the patches that it has no rows for: (N, D)."""
    if rows == config.prefix:
        return table
    xp = array_module(table)
    zeros = xp.zeros((config.prefix - rows, config.width), dtype=table.dtype)
    return xp.concatenate([table[:rows], zeros, table[rows:]])


def _added(config: ViTConfig, block: int | None) -> Stage:
    part = part_of(config, block)

    def forward(params: Params, x: Array) -> tuple[Array, None]:
        return ops.position_embedding(x, position_table(config, params, block))

    def backward(dx: Array, cache: None, grads: Params) -> Array:
        if config.position == "sincos":
            return dx
        dx, dtable = ops.position_embedding_backward(dx, cache)  # (B, N, D), (N, D)
        xp, rows, of_patches = array_module(dx), config.position_rows, dtable[config.prefix :]
        if config.position == "1d":
            grads.add(part, xp.concatenate([dtable[:rows], of_patches]))
        else:
            grads.add(part, *ops.positions_2d_backward(of_patches, config.grid))
        return dx

    return Stage(part, forward, backward)


def _stages(config: ViTConfig, place: Place, stages: Stages, step: Step) -> Stages:
    there = config.position in ADDED and (config.position_at == "stem") == (place.kind == "stem")
    added = [_added(config, place.block)] if there else []
    return instead(stages, "position", *added) if place.kind == "stem" else [*added, *stages]


def _specs(config: ViTConfig, place: Place, specs: Specs) -> Specs:
    D, (gh, gw), T = config.width, config.grid, config.patches
    if config.position == "1d" and config.position_at == "stem":
        if place.kind == "stem":  # the official layout has a name for it if it has a row for every token
            table = specs[index_of(specs, "position")]
            return instead(specs, "position", replace(table, shape=(config.position_rows + T, D)))
        return specs
    if config.position in ("relative", "bias"):
        return specs
    shapes = {
        "1d": {"": (config.position_rows + T, D)},
        "2d": {".rows": (gh, D // 2), ".columns": (gw, D // 2)},
    }
    return position_specs(config, place, specs, shapes.get(config.position, {}))


PART = Part(
    {"position": "1d", "position_at": "stem", "position_on": "class", "registers": 0},
    {"stem": _stages, "block": _stages},
    {"stem": _specs, "block": _specs},
    known_to={"position_on": "cpu cuda onnx timm plain"},
)
