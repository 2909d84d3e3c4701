"""Pictures made of parts side by side, each with a heading and a line that says what it means."""

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tinyvit.pictures.colours import INK, QUIET
from tinyvit.pictures.sheet import Sheet
from tinyvit.pictures.text import cut, text_width

MARGIN, GAP, HEAD, FOOT = 44, 60, 128, 84  # around the parts, in points; FOOT holds the scales
NAME_SIZE, MEANING_SIZE = 19, 15  # of the letters above each part


@dataclass(frozen=True)
class Part:
    """A part of the picture: its heading, its size in points, and draw(sheet, left), which draws it.

    It is drawn from HEAD downwards, and its scale, if it has one, below its height.
    """

    name: str
    meaning: str
    width: int
    height: int
    draw: Callable[[Sheet, int], None]


def save_parts(parts: Sequence[Part], path: str | os.PathLike[str], title: str, smooth: int = 1) -> None:
    """Draw the parts below a title to a PNG at path, atomically; smooth is that of Sheet.

    Raises UserError if the picture cannot be written.
    """
    widths = [max(part.width, heading_width(part.name, part.meaning)) for part in parts]
    lefts = [MARGIN + sum(widths[:i]) + GAP * i for i in range(len(parts))]
    height = max(part.height for part in parts)
    sheet = Sheet(lefts[-1] + widths[-1] + MARGIN, HEAD + height + FOOT, smooth=smooth)
    sheet.text(MARGIN, 40, cut(title, sheet.size[0] - 2 * MARGIN, 26), 26, INK, "lm")
    for left, part in zip(lefts, parts, strict=True):
        sheet.text(left, 84, part.name, NAME_SIZE, INK, "lm")
        sheet.text(left, 108, part.meaning, MEANING_SIZE, QUIET, "lm")
        part.draw(sheet, left)
    sheet.save(path)


def heading_width(name: str, meaning: str) -> int:
    """The width of the two lines above a part."""
    return math.ceil(max(text_width(name, NAME_SIZE), text_width(meaning, MEANING_SIZE)))
