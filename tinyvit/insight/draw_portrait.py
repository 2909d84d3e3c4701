"""A model's portrait: embedding filters, position similarity and attention (ViT Figures 6 and 7)."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tinyvit.insight.draw_attention import GAP as PAIR_GAP
from tinyvit.insight.draw_attention import SCALE_WIDTH, SeenPhoto, attention_overlay, draw_attention_scale
from tinyvit.insight.draw_parts import HEAD, Part, heading_width, save_parts
from tinyvit.insight.filters import filter_pictures
from tinyvit.insight.positions import draw_scale
from tinyvit.pictures.colours import INK, heat_colours
from tinyvit.pictures.sheet import Sheet
from tinyvit.pictures.text import cut

HEIGHT = 640  # of each of the three parts, in pixels; the third is taller if there are many images

FILTER_COLUMNS, FILTER_SPACE = 4, 8
MOST_MAPS = 8  # rows and columns of position maps; of a larger grid, evenly spaced ones are shown
MAP_SPACE = 6

LARGEST_IMAGE, SMALLEST_IMAGE = 300, 110  # side of an image shown with its attention
CAPTION, LINE_SPACE, IMAGE_SPACE = 28, 10, 22  # below an image: its caption, then space; space between images

Row = tuple[np.ndarray, np.ndarray, str]  # image (H, W, 3) uint8, attention (gh, gw), caption


def save_portrait(
    filters: np.ndarray,
    similarity: np.ndarray | None,
    rows: Sequence[Row] | None,
    path: str | os.PathLike[str],
    title: str,
    reader: str = "patch embedding",
) -> None:
    """Draw filters (count, P, P, 3), similarity (gh, gw, gh, gw) and attention rows to a PNG, atomically.

    reader is what the filters belong to. rows are None for a ResNet, or without images. If similarity is
    None, the picture says so in its place, unless only filters are drawn. Raises ValueError if rows are
    empty, UserError if the picture cannot be written.
    """
    parts = [filters_part(filters, reader)]
    if rows is not None or similarity is not None:
        parts.append(_positions_part(similarity))
    if rows is not None:
        parts.append(_attention_part(rows))
    save_parts(parts, path, title)


def filters_part(filters: np.ndarray, reader: str) -> Part:
    """Filters (count, P, P, 3) of what is called reader, in rows of four."""

    def draw(sheet: Sheet, left: int) -> None:
        draw_filters(sheet, left, HEAD, filters)

    width = filter_side(len(filters)) * FILTER_COLUMNS
    return Part(reader, "the patterns it responds to most, strongest first", width, HEIGHT, draw)


def _positions_part(similarity: np.ndarray | None) -> Part:
    if similarity is None:
        return Part("position embedding", "no vector belongs to a patch", 0, HEIGHT, lambda sheet, left: None)
    maps, meaning = MapLayout.of(similarity), "how similar each position is to all the others"

    def draw(sheet: Sheet, left: int) -> None:
        draw_maps(sheet, left, HEAD, similarity, maps)
        width = max(maps.width, heading_width("position embedding", meaning))
        draw_scale(sheet, left, HEAD + HEIGHT + 16, width, f"cosine {similarity.min():.2f}", "1")

    return Part("position embedding", meaning, maps.width, HEIGHT, draw)


def _attention_part(rows: Sequence[Row]) -> Part:
    if not rows:
        raise ValueError("no images to show attention on: expected at least one")
    images = ImageLayout.of(len(rows))

    def draw(sheet: Sheet, left: int) -> None:
        draw_attention(sheet, left, HEAD, rows, images)
        draw_attention_scale(sheet, left, HEAD + images.height + 16)

    return Part("attention", "where the last block looks", images.width, max(HEIGHT, images.height), draw)


def filter_side(count: int) -> int:
    """The side of a filter plus the space after it, such that all filters fit into HEIGHT."""
    return HEIGHT // max(math.ceil(count / FILTER_COLUMNS), 7)


def draw_filters(sheet: Sheet, left: int, top: int, filters: np.ndarray) -> None:
    """Draw filters in rows of four, enlarged with their pixels still visible."""
    side = filter_side(len(filters))
    for i, picture in enumerate(filter_pictures(filters)):
        row, column = divmod(i, FILTER_COLUMNS)
        sheet.image(left + column * side, top + row * side, picture, max(1, side - FILTER_SPACE))


@dataclass(frozen=True)
class MapLayout:
    """Which positions get a similarity map, and the spacing of the maps."""

    down: np.ndarray
    across: np.ndarray
    pitch: float
    map_width: int

    @classmethod
    def of(cls, similarity: np.ndarray) -> MapLayout:
        gh, gw = similarity.shape[:2]
        down, across = _chosen(gh), _chosen(gw)
        pitch = HEIGHT / max(len(down), len(across))
        return cls(down, across, pitch, max(1, int((pitch - MAP_SPACE) * gw / max(gh, gw))))

    @property
    def width(self) -> int:
        return round(self.pitch * len(self.across))


def draw_maps(sheet: Sheet, left: int, top: int, similarity: np.ndarray, maps: MapLayout) -> None:
    """Draw a map for each position, arranged like the positions; dark is dissimilar, light is similar."""
    shares = _share_of_range(similarity)
    for r, row in enumerate(maps.down):
        for c, column in enumerate(maps.across):
            at = left + round(c * maps.pitch), top + round(r * maps.pitch)
            sheet.image(*at, heat_colours(shares[row, column]), maps.map_width)


@dataclass(frozen=True)
class ImageLayout:
    """How many images there are in a row, each `side` pixels wide and next to its attention of that size."""

    columns: int
    lines: int
    side: int

    @classmethod
    def of(cls, count: int) -> ImageLayout:
        """As large as fits into HEIGHT; 21 or more images are small, and make the part taller."""
        if count <= 8:
            columns = 1 if count <= 2 else 2
        else:
            columns = max(math.ceil(min(count, 20) / 4), round(math.sqrt(0.8 * count)))
        lines = math.ceil(count / columns)
        side = (HEIGHT + LINE_SPACE) // lines - CAPTION - LINE_SPACE
        return cls(columns, lines, min(max(side, SMALLEST_IMAGE), LARGEST_IMAGE))

    @property
    def cell(self) -> tuple[int, int]:
        """The horizontal and vertical distance from one image to the next."""
        return 2 * self.side + PAIR_GAP + IMAGE_SPACE, self.side + CAPTION + LINE_SPACE

    @property
    def width(self) -> int:
        return max(self.columns * self.cell[0] - IMAGE_SPACE, SCALE_WIDTH)

    @property
    def height(self) -> int:
        return self.lines * self.cell[1] - LINE_SPACE


def draw_attention(sheet: Sheet, left: int, top: int, rows: Sequence[Row], images: ImageLayout) -> None:
    """Draw each image next to its attention, with its caption below."""
    width, height = images.cell
    size = 15 if images.side > SMALLEST_IMAGE else 13
    for i, (image, attention, caption) in enumerate(rows):
        line, column = divmod(i, images.columns)
        x, y = left + column * width, top + line * height
        pair = attention_overlay(SeenPhoto.seen_whole(image), attention, (images.side, images.side))
        sheet.image(x, y, pair)
        sheet.text(x, y + pair.height + 15, cut(caption, width - IMAGE_SPACE, size), size, INK, "lm")


def _chosen(count: int) -> np.ndarray:
    """All of 0 ... count - 1, or at most MOST_MAPS of them, evenly spread."""
    return np.linspace(0, count - 1, min(count, MOST_MAPS)).round().astype(int)


def _share_of_range(similarity: np.ndarray) -> np.ndarray:
    """Similarity rescaled so that the smallest becomes 0 and 1 remains 1."""
    lowest = similarity.min()
    return (similarity - lowest) / max(1 - lowest, 1e-12)
