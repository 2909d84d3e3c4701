"""The arrays of a checkpoint being read: arrays that are used are crossed off, and the rest are reported."""

import re
from collections import Counter
from math import isqrt, prod
from typing import Any

import numpy as np

from tinyvit.model import Params, ViTConfig, layout
from tinyvit.model.layout import ParamSpec
from tinyvit.support.errors import UserError


class NamedArrays:
    """Arrays by name; take() returns one and crosses it off, so that none is silently ignored."""

    def __init__(self, arrays: dict[str, np.ndarray], source: str):
        self._left, self.source = dict(arrays), source

    def __contains__(self, name: str) -> bool:
        return name in self._left

    @property
    def numbers(self) -> int:
        """Number of values in all arrays that are not yet taken."""
        return sum(array.size for array in self._left.values())

    def shape(self, name: str, axes: int) -> tuple[int, ...]:
        """The shape of an array not yet taken. Raises UserError if it is missing or has other axes."""
        shape = self.shape_of(name)
        if len(shape) != axes:
            raise self._wrong(f"{name} has shape {shape}, expected {axes} axes")
        return shape

    def shape_of(self, name: str) -> tuple[int, ...]:
        """The shape of an array not yet taken. Raises UserError if it is missing."""
        return self._get(name).shape

    def take(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        """The array, which is crossed off. Raises UserError if it is missing, or of another shape or type."""
        array = self._get(name)
        if array.shape != shape:
            raise self._wrong(f"{name} has shape {array.shape}, expected {shape}")
        if array.dtype.kind != "f":
            raise self._wrong(f"{name} has dtype {array.dtype}, expected floating point")
        del self._left[name]
        return array

    def count(self, pattern: str) -> int:
        """Number of different strings that a pattern's first group matches in the names, to count layers."""
        return len({match[1] for name in self._left if (match := re.match(pattern, name))})

    def rename(self, name: str, better: str) -> None:
        """Give an array another name."""
        self._left[better] = self._left.pop(name)

    def drop(self, pattern: str) -> None:
        """Cross off all arrays whose names match: they are known not to be needed for classification."""
        self._left = {name: array for name, array in self._left.items() if not re.search(pattern, name)}

    def refuse(self, foreign: dict[str, str]) -> None:
        """Raise UserError if the name of an array matches one of these patterns, with the reason given."""
        for pattern, why in foreign.items():
            for name, array in self._left.items():
                if re.search(pattern, name):
                    raise UserError(
                        f"{self.source} is not a plain ViT: {_printable(name)} {array.shape} {why}. "
                        "Choose another checkpoint."
                    )

    def finish(self) -> None:
        """Raise UserError if there are arrays that were not used, with their names and shapes."""
        if self._left:
            names = [f"{_printable(name)} {array.shape}" for name, array in sorted(self._left.items())]
            shown = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
            raise UserError(
                f"{self.source} is not a plain ViT: it also contains {shown}. tinyvit cannot use "
                "these, and the model needs them: choose another checkpoint."
            )

    def _get(self, name: str) -> np.ndarray:
        if name not in self._left:
            names = [_printable(other) for other in sorted(self._left)]
            unused = ", ".join(names[:4]) + (", ..." if len(names) > 4 else "")
            others = f"not used so far are {unused}" if names else "all others are used"
            raise self._wrong(f"the array {name} is missing; {others}")
        return self._left[name]

    def _wrong(self, what: str) -> UserError:
        remedy = "Download it again, with its config.json if it has one, or choose another checkpoint"
        return UserError(f"{self.source}: {what}. {remedy}.")


def renamed(pairs: list[tuple[str, np.ndarray]], source: str) -> dict[str, np.ndarray]:
    """Arrays under their new names. Raises UserError if two arrays have the same name."""
    arrays = dict(pairs)
    if len(arrays) < len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise UserError(
            f"{source} contains {_printable(twice)} twice, in different spellings: remove the wrong one."
        )
    return arrays


def described_config(source: str, fields: dict[str, Any]) -> ViTConfig:
    """ViTConfig(**fields), with the source named in its UserError."""
    try:
        return ViTConfig(**fields)
    except (TypeError, ValueError, ArithmeticError) as error:
        raise UserError(f"{source}, with the config.json beside it, describes no model: {error}") from error


def empty_params(table: NamedArrays, config: ViTConfig, dtype: str) -> Params:
    """Zeros for all parameters of a model, to be filled from a table. Raises UserError like zeros_for."""
    size = " x ".join(map(str, config.image_size))
    return zeros_for(table, layout(config), f"a model of its shape, for images of {size} pixels,", dtype)


def zeros_for(table: NamedArrays, rows: tuple[ParamSpec, ...], what: str, dtype: str) -> Params:
    """Zeros for the parameters that rows list, to be filled from a table; what they are is for messages.

    Raises UserError, before memory is taken for them, if the table has far fewer numbers than that. (If only
    an array is missing, that is found, and named, when the table is asked for it.)
    """
    needed = sum(prod(row.shape) for row in rows)
    if needed > 4 * table.numbers + 1_000_000:
        raise UserError(
            f"{table.source} contains {table.numbers:,} numbers, but {what} has {needed:,}: download it "
            "again, with the config.json beside it."
        )
    return Params.zeros(rows, dtype)


def square_image_size(
    table: NamedArrays,
    name: str,
    class_token: str,
    patch_size: int,
    may_lack_row: bool,
    remedy: str,
    prefix: int = 0,
) -> tuple[int, int]:
    """Height and width in pixels of square images, from the number of rows in the position embedding `name`.

    may_lack_row: whether the class token may be without a row. prefix is how many tokens may have one, where
    that is more than a class token. Raises UserError if the number of rows does not correspond to a square
    grid of patches; remedy is what to do if the images are not square.
    """
    rows, has_token = table.shape(name, 3)[1], class_token in table
    lacking = (rows - prefix, rows - 1, rows) if prefix > 1 else (rows - 1, *[rows] * may_lack_row)
    for patches in lacking if has_token or prefix > 1 else (rows - prefix, rows):
        if _is_square(patches):
            return isqrt(patches) * patch_size, isqrt(patches) * patch_size
    missing = (
        f" Or the array {class_token} is missing: the class token has a row." if _is_square(rows - 1) else ""
    )
    raise UserError(
        f"{table.source}: {name} has {rows} rows, which is not the number of patches of a square image"
        f"{' (and a class token)' if has_token else ''}: {remedy}." + missing
    )


def _is_square(number: int) -> bool:
    return number > 0 and isqrt(number) ** 2 == number


def unknown_resnet(source: str, width: int, units: tuple[int, ...]) -> UserError:
    """The error to raise for a ResNet of another make."""
    return UserError(
        f"{source} has a ResNet that tinyvit does not know: a root of {width} channels, and "
        f"{', '.join(map(str, units)) or 'no'} units in its stages. Choose another checkpoint."
    )


def take_positions(table: NamedArrays, name: str, config: ViTConfig) -> np.ndarray:
    """The position embedding (N, D); zeros are added for the class token in big_vision and DeiT-III models.

    Raises UserError if it is missing or has the wrong shape.
    """
    rows = table.shape(name, 3)[1]
    expected = config.position_rows + config.patches
    lacking = 1 if config.position_rows == 1 and rows == config.patches else 0
    found = table.take(name, (1, expected - lacking, config.width))[0]
    return np.concatenate([np.zeros((lacking, config.width), found.dtype), found])


def _printable(name: str) -> str:
    return name if name.isprintable() else repr(name)
