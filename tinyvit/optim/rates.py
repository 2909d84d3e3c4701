"""The learning rate of each parameter: a factor of the rate of the step, which is 0 for what is frozen.

With layer-wise decay d (Clark et al. 2020, *ELECTRA*; Bao et al. 2022, *BEiT*), a model of L blocks has L + 2
groups: the stem is 0, block i is i + 1, the last block's group has the final norm too, and the head is L + 1.
Group n learns at

    d ** (L + 1 - n)                                                                       (1)

times the learning rate, so the head at all of it. Early layers are what different tasks have in common.
"""

import re
from collections.abc import Iterable

from tinyvit.model.layout import ParamSpec, depth
from tinyvit.support.errors import UserError

_HEADS = ("head", "head2")
_NAMED = ("stem", "backbone", "matrices")
_BLOCKS = re.compile(r"blocks\.(\d+)(?:-(\d+))?")


def rates(
    rows: Iterable[ParamSpec], layers: int, freeze: str | None = None, decay: float = 1.0
) -> dict[str, float]:
    """The factor of the learning rate of each parameter of a model with this many blocks, by name.

    freeze names what does not learn, separated by commas: stem; blocks; blocks.3; blocks.0-9; backbone, which
    is everything but the head; matrices, which is everything but norms, biases and the head; or the beginning
    of a parameter's name, such as blocks.0.attn. decay is that of equation 1. Raises UserError for a part
    that the model does not have, and if everything would be frozen.
    """
    rows = tuple(rows)
    factors = {row.name: decay ** (layers + 1 - _group(row.name, layers)) for row in rows}
    for part in freeze.split(",") if freeze is not None else ():
        for name in _members(part.strip(), rows, layers):
            factors[name] = 0.0
    if not any(factors.values()):
        raise UserError(f"--freeze {freeze} would freeze the whole model: leave a part of it to learn.")
    return factors


def frozen_blocks(rates: dict[str, float], layers: int) -> int | None:
    """Number of blocks, from the first, that are frozen together with the stem; None if the stem learns."""
    first = min(depth(name) for name, rate in rates.items() if rate)
    return int(min(first - 1, layers)) if first else None


def _group(name: str, layers: int) -> int:
    """The group of equation 1."""
    return layers if name.startswith("norm.") else int(min(depth(name), layers + 1))


def _is_norm_or_bias(row: ParamSpec) -> bool:
    return len(row.shape) == 1 and (row.name.endswith(".bias") or "norm" in row.name)


def _members(part: str, rows: tuple[ParamSpec, ...], layers: int) -> list[str]:
    """The names of the parameters that a part of --freeze stands for."""
    if span := _BLOCKS.fullmatch(part):
        first, last = int(span[1]), int(span[2] or span[1])
        if not first <= last < layers:
            has = f"the blocks of the model are blocks.0 to blocks.{layers - 1}"
            raise UserError(f"--freeze has {part!r}, but {has if layers else 'the model has no blocks'}.")
        return [row.name for row in rows if first < depth(row.name) <= last + 1]
    is_head = {row.name: row.name.split(".")[0] in _HEADS for row in rows}
    members = {
        "stem": lambda row: depth(row.name) == 0,
        "backbone": lambda row: not is_head[row.name],
        "matrices": lambda row: not (is_head[row.name] or _is_norm_or_bias(row)),
    }.get(part, lambda row: part != "" and f"{row.name}.".startswith(f"{part}."))
    names = [row.name for row in rows if members(row)]
    if not names:
        parts = dict.fromkeys(row.name.split(".")[0] for row in rows)
        blocks = f"blocks.0-{layers - 1} or the like, " if layers else ""
        raise UserError(
            f"--freeze has {part!r}, which is no part of the model: expected {', '.join(_NAMED)}, "
            f"{blocks}or the beginning of a parameter's name, such as {', '.join(list(parts)[:3])}."
        )
    return names
