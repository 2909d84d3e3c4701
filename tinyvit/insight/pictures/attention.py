"""Pictures of attention: over a photo, of every head, and how far each head looks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image

from tinyvit.insight.pictures.axes import Axes, nice_ticks, whole_ticks
from tinyvit.insight.pictures.colours import BLUE, FAINT, INK, ORANGE, PAPER, QUIET, heat_colours
from tinyvit.insight.pictures.sheet import (
    Box,
    File,
    Part,
    Sheet,
    cut,
    cut_middle,
    fitted,
    save_parts,
    text_width,
)

# The colours range from an eighth of an even share to eight times that share, and are the same in every
# picture, so that uniform attention looks uniform and pictures can be compared.
FARTHEST = 3.0  # from an even share, in doublings
SCALE_TICKS = ((-3, "1/8"), (-2, "1/4"), (-1, "1/2"), (0, "1"), (1, "2"), (2, "4"), (3, "8"))
SCALE_TITLE = "attention relative to an even share: 1 if all patches got the same"
SCALE_WIDTH, SCALE_HEIGHT = 420, 48


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


def draw_attention_scale(sheet: Sheet, x: float, y: float, width: float = SCALE_WIDTH) -> None:
    """Draw the colour scale, SCALE_HEIGHT points high, with its top left corner at (x, y)."""
    bar = heat_colours(np.linspace(0, 1, int(width)))[None].repeat(10, axis=0)
    sheet.text(x, y + 7, cut(SCALE_TITLE, width, 13), 13, QUIET, "lm")
    sheet.image(x, y + 19, bar)
    for doublings, label in SCALE_TICKS:
        share = 0.5 + doublings / (2 * FARTHEST)
        half = text_width(label, 12) / 2
        sheet.text(x + np.clip(share * width, half, width - half), y + 40, label, 12, QUIET)


# Over a photo.

PANEL = (384, 256)  # width and height that a photo is enlarged or reduced to fit into, in pixels
GAP = 8  # between photo and heat map, in pixels
HEAT_SHARE = 0.7  # opacity of the heat map over the photo
PAPER_SHARE = 0.65  # opacity of white over what the model did not see
MARGIN = 24  # of a contact sheet, in pixels


@dataclass(frozen=True)
class SeenPhoto:
    """A whole photo, and the part of it that the model saw.

    image (H, W, 3) is uint8 and upright. box is (left, top, right, bottom) of the part that became the
    model's input, in pixels of the photo; it extends beyond the photo if the photo was padded.
    """

    image: np.ndarray
    box: Box
    name: str = ""

    @classmethod
    def seen_whole(cls, image: np.ndarray, name: str = "") -> SeenPhoto:
        """A photo of which the model saw everything."""
        return cls(image, (0, 0, image.shape[1], image.shape[0]), name)


def attention_overlay(photo: SeenPhoto, attention: np.ndarray, panel: tuple[int, int] = PANEL) -> Image.Image:
    """The photo on the left, and on the right the photo under its attention; bright means high.

    attention (gh, gw) has one number, 0 or more, for each patch of the part that the model saw; the rest is
    shown pale on the right side. Each side is as large as fits into panel (width, height), in pixels. Raises
    ValueError if attention is negative or not finite.
    """
    H, W, _ = photo.image.shape
    left, top, right, bottom = photo.box
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
    plain = Image.new("RGB", canvas, FAINT)
    plain.paste(Image.fromarray(photo.image).resize(_size(whole), sampling), whole[:2])
    grey = plain.convert("L").convert("RGB")
    looked = Image.blend(grey, Image.new("RGB", canvas, PAPER), PAPER_SHARE)
    heat = Image.fromarray(heat_colours(_enlarge(attention_heat(attention), _size(seen))))
    looked.paste(Image.blend(grey.crop(seen), heat, HEAT_SHARE), seen[:2])

    pair = Image.new("RGB", (2 * canvas[0] + GAP, canvas[1]), PAPER)
    pair.paste(plain, (0, 0))
    pair.paste(looked, (canvas[0] + GAP, 0))
    return pair


def _enlarge(heat: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Heat (gh, gw) smoothly enlarged (which may overshoot a little) to size (width, height), as float32."""
    return np.asarray(Image.fromarray(heat.astype(np.float32)).resize(size, Image.Resampling.BICUBIC))


def _size(corners: tuple[int, int, int, int]) -> tuple[int, int]:
    """Width and height between corners (left, top, right, bottom)."""
    return corners[2] - corners[0], corners[3] - corners[1]


def save_overlays(rows: Sequence[tuple[SeenPhoto, np.ndarray, str]], path: File) -> None:
    """Draw a contact sheet of (photo, attention, prediction) rows to a PNG at path.

    Below each pair are the photo's name, if it has one, and the prediction, one line such as 'cat 93.1%'.
    """
    if not rows:
        raise ValueError("no overlays to save: expected at least one row")
    pairs = [attention_overlay(photo, attention) for photo, attention, _ in rows]
    columns = max(1, round(math.sqrt(len(rows) / 2)))  # a pair is about twice as wide as it is high
    lines = math.ceil(len(rows) / columns)
    width = max(SCALE_WIDTH, *(pair.width for pair in pairs))
    caption_height = 56 if any(photo.name for photo, _, _ in rows) else 34
    across, down = width + MARGIN, max(pair.height for pair in pairs) + caption_height + MARGIN
    sheet = Sheet(columns * across + MARGIN, lines * down + SCALE_HEIGHT + 2 * MARGIN, smooth=1)
    for i, (pair, (photo, _, prediction)) in enumerate(zip(pairs, rows, strict=True)):
        left, top = MARGIN + i % columns * across, MARGIN + i // columns * down
        sheet.image(left, top, pair)
        row = top + pair.height + 18
        if photo.name:
            sheet.text(left, row, cut_middle(photo.name, width, 14), 14, QUIET, "lm")
            row += 22
        sheet.text(left, row, cut(prediction, width, 17), 17, INK, "lm")
    draw_attention_scale(sheet, MARGIN, MARGIN + lines * down)
    sheet.save(path)


# Of every head.

LARGEST, SMALLEST, ROOM = 104, 40, 720  # longer side of a map, and about what the maps of an image may take
PHOTO = 200  # longer side of the image itself
NARROWEST = 18  # room for a map and its number
SPACE, BETWEEN = 4, 40  # between maps, and between images
NUMBERS, LABEL = 74, 24  # left of the maps, for the blocks, and above them, for the heads
HEAD_SHARE = 0.75  # opacity of the heat over the image

Row = tuple[np.ndarray, np.ndarray, str]  # image (H, W, 3) uint8, maps (layers, heads, gh, gw), caption


def save_heads(rows: Sequence[Row], path: File, title: str, who: str) -> None:
    """Draw the maps of every head to a PNG, beside their image; who is what looks, as in 'class token'."""
    if not rows:
        raise ValueError("no images to show heads of: expected at least one")
    layers, heads = rows[0][1].shape[:2]
    side = min(max(ROOM // max(layers, heads), SMALLEST), LARGEST)
    small = [fitted(_grey(image), side) for image, _, _ in rows]
    cell = max(NARROWEST, *(each.width for each in small)), max(NARROWEST, *(each.height for each in small))
    columns = 1 if len(rows) == 1 else 2
    across = PHOTO + NUMBERS + heads * (cell[0] + SPACE) - SPACE + BETWEEN
    down = LABEL + max(layers * (cell[1] + SPACE), PHOTO + 40) + BETWEEN
    height = down * math.ceil(len(rows) / columns) - BETWEEN

    def draw(sheet: Sheet, left: int, top: int) -> None:
        for i, row in enumerate(rows):
            _draw_heads(sheet, left + i % columns * across, top + i // columns * down, row, small[i], cell)
        draw_attention_scale(sheet, left, top + height + 16)

    width = max(across * columns - BETWEEN, SCALE_WIDTH)
    part = Part("attention of every head", f"what the {who} draws from each patch", width, height, draw)
    save_parts([part], path, title)


def _draw_heads(sheet: Sheet, x: int, y: int, row: Row, grey: Image.Image, cell: tuple[int, int]) -> None:
    """An image with its caption, and the maps right of it: a row for each block, a column for each head."""
    image, maps, caption = row
    photo = fitted(image, PHOTO)
    sheet.image(x, y + LABEL, photo)
    sheet.text(x, y + LABEL + photo.height + 16, cut(caption, PHOTO, 15), 15, INK, "lm")
    start = x + PHOTO + NUMBERS
    for l, heads in enumerate(maps):
        top = y + LABEL + l * (cell[1] + SPACE)
        sheet.text(start - 10, top + grey.height / 2, f"block {l + 1}", 12, QUIET, "rm")
        for head, drawn in enumerate(heads):
            left = start + head * (cell[0] + SPACE)
            if l == 0:
                word = f"head {head + 1}" if cell[0] >= 50 else str(head + 1)
                sheet.text(left + grey.width / 2, y + LABEL / 2, word, 12, QUIET)
            heat = Image.fromarray(heat_colours(attention_heat(drawn)))
            heat = heat.resize(grey.size, Image.Resampling.NEAREST)
            sheet.image(left, top, Image.blend(grey, heat, HEAD_SHARE))


def _grey(image: np.ndarray) -> np.ndarray:
    """The image without its colours, (H, W, 3)."""
    return np.asarray(Image.fromarray(image).convert("L").convert("RGB"))


# How far.

FRAME = 640, 400  # width and height of the frame and its names, in points
NAMES, RIGHT = 62, 130  # room left of the frame, and right of it for the label of the dashed line


def save_distance(distance: np.ndarray, uniform: float, images: int, path: File, title: str) -> None:
    """Draw mean distances (layers, heads) over many images, and that of uniform attention, to a PNG."""
    layers, heads = distance.shape
    ticks = nice_ticks(0, max(distance.max(), uniform, 1e-3))
    where = f"mean over {images:,} images" if images > 1 else "in one image"
    width, height = FRAME

    def draw(sheet: Sheet, left: int, top: int) -> None:
        box = (left + NAMES, top + 8, left + width - RIGHT, top + height)
        axes = Axes(sheet, box, (0.5, layers + 0.5), (0, ticks[-1]))
        axes.y_ticks(ticks)
        axes.x_ticks(whole_ticks(1, max(layers, 2), 12)[: layers if layers < 12 else None])
        axes.frame()
        axes.x_name("block")
        blocks = range(1, layers + 1)
        axes.curve((0.5, layers + 0.5), (uniform, uniform), ORANGE, 1.5, dashed=True)
        axes.curve(blocks, distance.mean(axis=1), FAINT, 2)
        for block, row in zip(blocks, distance, strict=True):
            for value in sorted(row):
                sheet.dot(axes.place(block, value), 3.5, BLUE)
        ends = [(layers + 0.5, uniform, f"uniform: {uniform:.1f}", ORANGE)]
        if layers > 1 and heads > 1:
            ends.append((layers + 0.5, distance[-1].mean(), "mean of the heads", QUIET))
        axes.label_ends(ends, 13)

    part = Part("attention distance", f"in pixels, a dot for each head, {where}", width, height, draw)
    save_parts([part], path, title, smooth=3)
