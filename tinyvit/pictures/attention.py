"""Where a model looks: a photo beside the same photo under a heat map of its attention."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from tinyvit.files.atomic import write_atomically

SMALLEST_PANEL = 256  # height in pixels: smaller images are enlarged to it at least
GAP = 8  # between photo and heat map, in pixels
HEAT_SHARE = 0.6  # of the heat map in the mixture with the photo

MARGIN, CAPTION_HEIGHT, CAPTION_SIZE = 24, 36, 18  # of a contact sheet, in pixels
PAPER, INK = (255, 255, 255), (28, 36, 48)

# From no attention to the most. Lightness grows evenly, so that equal steps of attention look equal.
HEAT_COLOURS = np.array(
    [(0, 0, 4), (40, 17, 89), (114, 31, 129), (182, 54, 121), (241, 96, 93), (254, 175, 119), (252, 253, 191)]
)


def attention_overlay(image: np.ndarray, attention: np.ndarray) -> Image.Image:
    """The image on the left; on the right, the image under its attention, bright where there is most.

    image (H, W, 3) uint8; attention (gh, gw) float, one number a patch on any scale: only differences show.
    Both are NumPy arrays. Raises ValueError if the shapes or types are others, or attention is not finite.
    """
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8:
        raise ValueError(f"image is {image.dtype} {image.shape}, expected uint8 (H, W, 3)")
    if attention.ndim != 2 or not np.isfinite(attention).all():
        raise ValueError(f"attention of shape {attention.shape}, expected (gh, gw) with finite numbers only")
    H, W, _ = image.shape
    factor = math.ceil(SMALLEST_PANEL / H)
    size = (W * factor, H * factor)
    photo = Image.fromarray(image).resize(size, Image.Resampling.BICUBIC)
    heat = Image.fromarray(heat_colours(_enlarge(attention, size)))
    pair = Image.new("RGB", (2 * size[0] + GAP, size[1]), PAPER)
    pair.paste(photo, (0, 0))
    pair.paste(Image.blend(photo.convert("L").convert("RGB"), heat, HEAT_SHARE), (size[0] + GAP, 0))
    return pair


def save_overlays(rows: Sequence[tuple[np.ndarray, np.ndarray, str]], path: str | os.PathLike[str]) -> None:
    """Save a contact sheet of (image, attention, caption) rows as a PNG, replacing path in one go.

    Images and attention are those of attention_overlay; a caption is one line, such as 'cat 93.1%'. Raises
    ValueError without rows, UserError if the picture cannot be written.
    """
    if not rows:
        raise ValueError("no overlays to save: expected at least one row")
    pairs = [_at_height(attention_overlay(image, attention), SMALLEST_PANEL) for image, attention, _ in rows]
    columns = max(1, round(math.sqrt(len(rows) / 2)))  # a pair is about twice as wide as it is high
    cell_width = max(pair.width for pair in pairs) + MARGIN
    cell_height = SMALLEST_PANEL + CAPTION_HEIGHT + MARGIN
    lines = math.ceil(len(rows) / columns)
    sheet = Image.new("RGB", (columns * cell_width + MARGIN, lines * cell_height + MARGIN), PAPER)
    draw = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(CAPTION_SIZE)
    for i, (pair, (_, _, caption)) in enumerate(zip(pairs, rows, strict=True)):
        left, top = MARGIN + i % columns * cell_width, MARGIN + i // columns * cell_height
        sheet.paste(pair, (left, top))
        middle = top + SMALLEST_PANEL + CAPTION_HEIGHT / 2
        draw.text((left, middle), _cut(caption, pair.width, font), fill=INK, font=font, anchor="lm")
    write_atomically(Path(path), lambda file: sheet.save(file, "PNG"))


def heat_colours(heat: np.ndarray) -> np.ndarray:
    """Colours (..., 3) uint8 for numbers (...): HEAT_COLOURS from 0 to 1, its ends beyond."""
    anchors = np.linspace(0, 1, len(HEAT_COLOURS))
    channels = [np.interp(heat, anchors, HEAT_COLOURS[:, i]) for i in range(3)]
    return np.stack(channels, axis=-1).round().astype(np.uint8)


def _enlarge(attention: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Attention stretched to 0..1, then smoothly enlarged (which may overshoot a little) to size.

    attention (gh, gw) and size (width, height) give (height, width) float32.
    """
    stretched = (attention - attention.min()).astype(np.float32)
    if stretched.max() > 0:
        stretched /= stretched.max()
    return np.asarray(Image.fromarray(stretched).resize(size, Image.Resampling.BICUBIC))


def _at_height(image: Image.Image, height: int) -> Image.Image:
    if image.height == height:
        return image
    return image.resize((round(image.width * height / image.height), height), Image.Resampling.LANCZOS)


def _cut(text: str, width: int, font: ImageFont.FreeTypeFont) -> str:
    """The text, or as much of it as fits into width pixels with an ellipsis."""
    if font.getlength(text) <= width:
        return text
    while text and font.getlength(text + "…") > width:
        text = text[:-1]
    return text + "…"
