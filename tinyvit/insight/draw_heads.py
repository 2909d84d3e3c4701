"""Where every head of every block looks, for some images."""

import math
import os
from collections.abc import Sequence

import numpy as np
from PIL import Image

from tinyvit.insight.draw_attention import SCALE_WIDTH, attention_heat, draw_attention_scale
from tinyvit.insight.draw_parts import HEAD, Part, save_parts
from tinyvit.pictures.colours import INK, QUIET, heat_colours
from tinyvit.pictures.sheet import Sheet
from tinyvit.pictures.text import cut

LARGEST, SMALLEST, ROOM = 104, 40, 720  # longer side of a map, and about what the maps of an image may take
PHOTO = 200  # longer side of the image itself
NARROWEST = 18  # room for a map and its number
SPACE, BETWEEN = 4, 40  # between maps, and between images
NUMBERS, LABEL = 74, 24  # left of the maps, for the blocks, and above them, for the heads
HEAT_SHARE = 0.75  # opacity of the heat over the image

Row = tuple[np.ndarray, np.ndarray, str]  # image (H, W, 3) uint8, maps (layers, heads, gh, gw), caption


def save_heads(rows: Sequence[Row], path: str | os.PathLike[str], title: str, who: str) -> None:
    """Draw the maps of every head to a PNG, beside their image; who is what looks, as in 'class token'.

    Raises ValueError without rows, UserError if the picture cannot be written.
    """
    if not rows:
        raise ValueError("no images to show heads of: expected at least one")
    layers, heads = rows[0][1].shape[:2]
    side = min(max(ROOM // max(layers, heads), SMALLEST), LARGEST)
    sizes = [_fitted(image, side) for image, _, _ in rows]
    w, h = (max(NARROWEST, *(size[i] for size in sizes)) for i in (0, 1))
    columns = 1 if len(rows) == 1 else 2
    across = PHOTO + NUMBERS + heads * (w + SPACE) - SPACE + BETWEEN
    down = LABEL + max(layers * (h + SPACE), PHOTO + 40) + BETWEEN

    def draw(sheet: Sheet, left: int) -> None:
        for i, (image, maps, caption) in enumerate(rows):
            x, y = left + i % columns * across, HEAD + i // columns * down
            _draw_image(sheet, x, y, image, maps, caption, sizes[i], (w, h))
        draw_attention_scale(sheet, left, HEAD + height + 16)

    height = down * math.ceil(len(rows) / columns) - BETWEEN
    meaning = f"what the {who} draws from each patch"
    width = max(across * columns - BETWEEN, SCALE_WIDTH)
    part = Part("attention of every head", meaning, width, height, draw)
    save_parts([part], path, title)


def _draw_image(
    sheet: Sheet,
    x: int,
    y: int,
    image: np.ndarray,
    maps: np.ndarray,
    caption: str,
    size: tuple[int, int],
    cell: tuple[int, int],
) -> None:
    """An image with its caption, and the maps right of it: a row for each block, a column for each head."""
    photo = Image.fromarray(image)
    sampling = Image.Resampling.BICUBIC if max(photo.size) < PHOTO else Image.Resampling.LANCZOS
    plain = photo.resize(_fitted(image, PHOTO), sampling)
    sheet.image(x, y + LABEL, plain)
    sheet.text(x, y + LABEL + plain.height + 16, cut(caption, PHOTO, 15), 15, INK, "lm")
    grey = photo.convert("L").convert("RGB").resize(size, sampling)
    start = x + PHOTO + NUMBERS
    for l, heads in enumerate(maps):
        top = y + LABEL + l * (cell[1] + SPACE)
        sheet.text(start - 10, top + size[1] / 2, f"block {l + 1}", 12, QUIET, "rm")
        for head, drawn in enumerate(heads):
            left = start + head * (cell[0] + SPACE)
            if l == 0:
                word = f"head {head + 1}" if cell[0] >= 50 else str(head + 1)
                sheet.text(left + size[0] / 2, y + LABEL / 2, word, 12, QUIET)
            heat = Image.fromarray(heat_colours(attention_heat(drawn))).resize(size, Image.Resampling.NEAREST)
            sheet.image(left, top, Image.blend(grey, heat, HEAT_SHARE))


def _fitted(image: np.ndarray, side: int) -> tuple[int, int]:
    """Width and height of an image whose longer side is given."""
    scale = side / max(image.shape[:2])
    return max(1, round(image.shape[1] * scale)), max(1, round(image.shape[0] * scale))
