"""A sheet of mistakes: each image with its predicted and its true class."""

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

import numpy as np
from PIL import Image

from tinyvit.pictures.colours import GREEN, INK, QUIET, RED
from tinyvit.pictures.sheet import Sheet
from tinyvit.pictures.text import cut, text_width

SIDE = 160  # largest width and height of an image, in pixels: smaller ones are enlarged, larger ones reduced
CAPTION, NAME, SPACE, MARGIN, HEAD = 48, 18, 24, 32, 64
MOST_COLUMNS = 6
LEAST_WIDTH = 560  # of the picture, so that its title fits


@dataclass(frozen=True)
class Mistake:
    """An image (H, W, 3) uint8, the predicted class, its probability (0..1), the true class, and the file."""

    image: np.ndarray
    said: str
    probability: float
    truth: str
    name: str = ""


def draw_mistakes(mistakes: Sequence[Mistake], path: str | os.PathLike[str], title: str) -> None:
    """Draw mistakes in order, row by row, to a PNG at path; if there are none, the picture says so.

    Raises UserError if the picture cannot be written.
    """
    columns = min(max(1, len(mistakes)), MOST_COLUMNS)
    lines = math.ceil(len(mistakes) / columns)
    width = max(2 * MARGIN + columns * (SIDE + SPACE) - SPACE, LEAST_WIDTH)
    below = CAPTION + (NAME if any(mistake.name for mistake in mistakes) else 0)
    sheet = Sheet(width, HEAD + max(1, lines) * (SIDE + below + SPACE), smooth=1)
    sheet.text(MARGIN, 32, cut(title, width - 2 * MARGIN, 20), 20, INK, "lm")
    if not mistakes:
        sheet.text(MARGIN, HEAD + SIDE / 2, "no mistakes", 18, QUIET, "lm")
    for i, mistake in enumerate(mistakes):
        line, column = divmod(i, columns)
        left, top = MARGIN + column * (SIDE + SPACE), HEAD + line * (SIDE + below + SPACE)
        picture = _fitted(mistake.image)
        sheet.image(left + (SIDE - picture.width) // 2, top + (SIDE - picture.height) // 2, picture)
        share = f" {100 * mistake.probability:.0f}%"
        said = cut(f"said {mistake.said}", SIDE - text_width(share, 15), 15) + share
        sheet.text(left, top + SIDE + 15, said, 15, RED, "lm")
        sheet.text(left, top + SIDE + 36, cut(f"is {mistake.truth}", SIDE, 15), 15, GREEN, "lm")
        file = PurePath(mistake.name).name  # its folder is the class
        sheet.text(left, top + SIDE + 56, cut(file, SIDE, 13), 13, QUIET, "lm")
    sheet.save(path)


def _fitted(image: np.ndarray) -> Image.Image:
    """The image scaled to be as large as fits into SIDE x SIDE."""
    scale = SIDE / max(image.shape[:2])
    height, width = (max(1, round(n * scale)) for n in image.shape[:2])
    sampling = Image.Resampling.BICUBIC if scale > 1 else Image.Resampling.LANCZOS
    return Image.fromarray(image).resize((width, height), sampling)
