"""Where a model looks: a photo next to the same photo under a heat map of the model's attention."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image

from tinyvit.pictures.colours import FAINT, INK, PAPER, QUIET, heat_colours
from tinyvit.pictures.sheet import Sheet
from tinyvit.pictures.text import cut, cut_middle, text_width

PANEL = (384, 256)  # width and height that a photo is enlarged or reduced to fit into, in pixels
GAP = 8  # between photo and heat map, in pixels
HEAT_SHARE = 0.7  # opacity of the heat map over the photo
PAPER_SHARE = 0.65  # opacity of white over what the model did not see

# The colours range from an eighth of an even share to eight times that share, and are the same in every
# picture, so that uniform attention looks uniform and pictures can be compared.
FARTHEST = 3.0  # from an even share, in doublings
SCALE_TICKS = ((-3, "1/8"), (-2, "1/4"), (-1, "1/2"), (0, "1"), (1, "2"), (2, "4"), (3, "8"))
SCALE_TITLE = "attention relative to an even share: 1 if all patches got the same"
SCALE_WIDTH, SCALE_HEIGHT = 420, 48

MARGIN = 24  # of a contact sheet, in pixels


@dataclass(frozen=True)
class SeenPhoto:
    """A whole photo, and the part of it that the model saw.

    image (H, W, 3) is uint8 and upright. box is (left, top, right, bottom) of the part that became the
    model's input, in pixels of the photo; it extends beyond the photo if the photo was padded.
    """

    image: np.ndarray
    box: tuple[float, float, float, float]
    name: str = ""

    @classmethod
    def seen_whole(cls, image: np.ndarray, name: str = "") -> SeenPhoto:
        """A photo of which the model saw everything."""
        return cls(image, (0, 0, image.shape[1], image.shape[0]), name)


def attention_overlay(photo: SeenPhoto, attention: np.ndarray, panel: tuple[int, int] = PANEL) -> Image.Image:
    """The photo on the left, and on the right the photo under its attention; bright means high.

    attention (gh, gw) has one number, 0 or more, for each patch of the part that the model saw; the rest is
    shown pale on the right side. Each side is as large as fits into panel (width, height), in pixels. Raises
    ValueError if shapes or types are wrong, or attention is negative or not finite.
    """
    if photo.image.ndim != 3 or photo.image.shape[2] != 3 or photo.image.dtype != np.uint8:
        raise ValueError(f"image is {photo.image.dtype} {photo.image.shape}, expected uint8 (H, W, 3)")
    H, W, _ = photo.image.shape
    left, top, right, bottom = photo.box
    if not (left < right and top < bottom):
        raise ValueError(f"box is {photo.box}, expected (left, top, right, bottom) with a size above 0")

    # The canvas holds the photo and what was padded; corners are rounded, so that neighbours touch.
    x0, y0, x1, y1 = min(0, left), min(0, top), max(W, right), max(H, bottom)
    scale = min(panel[0] / (x1 - x0), panel[1] / (y1 - y0))
    canvas = round((x1 - x0) * scale) or 1, round((y1 - y0) * scale) or 1

    def corners(a: float, b: float, c: float, d: float) -> tuple[int, int, int, int]:
        start = round((a - x0) * scale), round((b - y0) * scale)
        stop = round((c - x0) * scale), round((d - y0) * scale)
        return (*start, max(stop[0], start[0] + 1), max(stop[1], start[1] + 1))

    whole, seen = corners(0, 0, W, H), corners(*photo.box)
    sampling = Image.Resampling.BICUBIC if scale > 1 else Image.Resampling.LANCZOS
    picture = Image.fromarray(photo.image).resize(_size(whole), sampling)
    plain = Image.new("RGB", canvas, FAINT)
    plain.paste(picture, whole[:2])
    grey = plain.convert("L").convert("RGB")
    looked = Image.blend(grey, Image.new("RGB", canvas, PAPER), PAPER_SHARE)
    heat = Image.fromarray(heat_colours(_enlarge(attention_heat(attention), _size(seen))))
    looked.paste(Image.blend(grey.crop(seen), heat, HEAT_SHARE), seen[:2])

    pair = Image.new("RGB", (2 * canvas[0] + GAP, canvas[1]), PAPER)
    pair.paste(plain, (0, 0))
    pair.paste(looked, (canvas[0] + GAP, 0))
    return pair


def attention_heat(attention: np.ndarray) -> np.ndarray:
    """Attention (gh, gw) as heat for heat_colours: 0.5 for an even share, 0 for 1/8 of it, 1 for 8 times it.

    Raises ValueError if attention is not 2-D, or contains numbers that are negative or not finite.
    """
    if attention.ndim != 2 or not np.isfinite(attention).all() or attention.min() < 0:
        raise ValueError(
            f"attention of shape {attention.shape}, expected (gh, gw) with finite numbers, 0 or more"
        )
    even = max(attention.mean(dtype=np.float64), np.finfo(np.float64).tiny)  # it may be 0 everywhere
    least = 2.0**-FARTHEST
    return 0.5 + np.log2((attention / even).clip(least, 1 / least)) / (2 * FARTHEST)


def save_overlays(rows: Sequence[tuple[SeenPhoto, np.ndarray, str]], path: str | os.PathLike[str]) -> None:
    """Save a contact sheet of (photo, attention, prediction) rows as a PNG, replacing path atomically.

    Below each pair are the photo's name, if it has one, and the prediction, one line such as 'cat 93.1%'.
    Raises ValueError without rows, UserError if the picture cannot be written.
    """
    if not rows:
        raise ValueError("no overlays to save: expected at least one row")
    pairs = [attention_overlay(photo, attention) for photo, attention, _ in rows]
    columns = max(1, round(math.sqrt(len(rows) / 2)))  # a pair is about twice as wide as it is high
    lines = math.ceil(len(rows) / columns)
    width = max(SCALE_WIDTH, *(pair.width for pair in pairs))
    captions = [_caption(photo.name, prediction, width) for photo, _, prediction in rows]
    caption_height = 12 + 22 * max(map(len, captions))
    cell_width, cell_height = width + MARGIN, max(pair.height for pair in pairs) + caption_height + MARGIN
    sheet = Sheet(columns * cell_width + MARGIN, lines * cell_height + SCALE_HEIGHT + 2 * MARGIN, smooth=1)
    for i, (pair, caption) in enumerate(zip(pairs, captions, strict=True)):
        left, top = MARGIN + i % columns * cell_width, MARGIN + i // columns * cell_height
        sheet.image(left, top, pair)
        for line, (text, size, colour) in enumerate(caption):
            sheet.text(left, top + pair.height + 18 + 22 * line, text, size, colour, "lm")
    draw_attention_scale(sheet, MARGIN, MARGIN + lines * cell_height)
    sheet.save(path)


def draw_attention_scale(sheet: Sheet, x: float, y: float, width: float = SCALE_WIDTH) -> None:
    """Draw the colour scale, SCALE_HEIGHT points high, with its top left corner at (x, y)."""
    title = cut(SCALE_TITLE, width, 13)
    bar = heat_colours(np.linspace(0, 1, int(width)))[None].repeat(10, axis=0)
    sheet.text(x, y + 7, title, 13, QUIET, "lm")
    sheet.image(x, y + 19, bar)
    for doublings, label in SCALE_TICKS:
        share = 0.5 + doublings / (2 * FARTHEST)
        half = text_width(label, 12) / 2
        sheet.text(x + np.clip(share * width, half, width - half), y + 40, label, 12, QUIET)


def _caption(name: str, prediction: str, width: float) -> list[tuple[str, float, str]]:
    """The lines below a pair: text, size and colour."""
    lines = [(cut_middle(name, width, 14), 14, QUIET)] if name else []
    return [*lines, (cut(prediction, width, 17), 17, INK)]


def _enlarge(heat: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Heat (gh, gw) smoothly enlarged (which may overshoot a little) to size (width, height), as float32."""
    return np.asarray(Image.fromarray(heat.astype(np.float32)).resize(size, Image.Resampling.BICUBIC))


def _size(corners: tuple[int, int, int, int]) -> tuple[int, int]:
    """Width and height between corners (left, top, right, bottom)."""
    return corners[2] - corners[0], corners[3] - corners[1]
