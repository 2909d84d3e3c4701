"""A sheet of training images and of what augmentation makes of them."""

import os
from collections.abc import Sequence

import numpy as np
from PIL import Image

from tinyvit.pictures.colours import INK, QUIET
from tinyvit.pictures.sheet import Sheet
from tinyvit.pictures.text import cut

SHOWN, VERSIONS = 6, 6  # images, and versions of each
SIDE = 128  # width of an image, in pixels
SPACE, MARGIN, HEAD = 16, 32, 64
LINE, TEXT = 17, 13  # of captions: from one to the next, and their size
MOST_LINES = 4


def draw_augmentation(
    versions: np.ndarray,
    names: Sequence[str],
    captions: Sequence[Sequence[Sequence[str]]],
    path: str | os.PathLike[str],
    title: str,
) -> None:
    """Draw a row for each image to a PNG at path.

    versions uint8 (n, 1 + v, H, W, 3) are the images, each followed by what was made of it; names are written
    below the images, and captions[row][version], some lines, below the versions. Raises UserError if the
    picture cannot be written.
    """
    n, columns, H, W = versions.shape[:4]
    lines = max([1, *(min(len(caption), MOST_LINES) for row in captions for caption in row)])
    step = round(SIDE * H / W) + lines * LINE + SPACE
    width = 2 * MARGIN + columns * (SIDE + SPACE) - SPACE
    sheet = Sheet(width, HEAD + n * step + MARGIN - SPACE, smooth=1)
    sheet.text(MARGIN, 32, cut(title, width - 2 * MARGIN, 20), 20, INK, "lm")
    for row, (name, of_row) in enumerate(zip(names, captions, strict=True)):
        for column, caption in enumerate([[name], *of_row]):
            left, top = MARGIN + column * (SIDE + SPACE), HEAD + row * step
            picture = Image.fromarray(versions[row, column])
            picture.thumbnail((SIDE, SIDE * H))  # only ever smaller
            sheet.image(left, top, picture, SIDE)
            below = top + round(SIDE * H / W) + LINE / 2 + 2
            for number, line in enumerate(_shortened(caption)):
                colour = QUIET if column else INK
                sheet.text(left, below + number * LINE, cut(line, SIDE, TEXT), TEXT, colour, "lm")
    sheet.save(path)


def _shortened(caption: Sequence[str]) -> list[str]:
    if len(caption) <= MOST_LINES:
        return list(caption)
    return [*caption[: MOST_LINES - 1], f"and {len(caption) - MOST_LINES + 1} more"]
