"""A sheet of images whose patches were corrupted, and what a model predicted in their place."""

import os

import numpy as np

from tinyvit.pictures.colours import INK, QUIET
from tinyvit.pictures.sheet import Sheet
from tinyvit.pictures.text import cut

SHOWN = 6  # images, if nothing else is asked for
SIDE = 160  # width of an image, in pixels
SPACE, MARGIN, HEAD = 16, 32, 96
COLUMNS = ("image", "corrupted", "predicted", "true")


def draw_patches(versions: np.ndarray, path: str | os.PathLike[str], title: str) -> None:
    """Draw a row for each image to a PNG at path; versions (n, 4, H, W, 3) uint8 are those of COLUMNS.

    Raises UserError if the picture cannot be written.
    """
    H, W = versions.shape[2:4]
    step = SIDE * H / W + SPACE
    width = 2 * MARGIN + len(COLUMNS) * (SIDE + SPACE) - SPACE
    sheet = Sheet(width, round(HEAD + len(versions) * step + MARGIN - SPACE), smooth=1)
    sheet.text(MARGIN, 32, cut(title, width - 2 * MARGIN, 20), 20, INK, "lm")
    for column, name in enumerate(COLUMNS):
        left = MARGIN + column * (SIDE + SPACE)
        sheet.text(left, HEAD - 18, name, 15, QUIET, "lm")
        for row, pixels in enumerate(versions[:, column]):
            sheet.image(left, round(HEAD + row * step), pixels, SIDE)
    sheet.save(path)
