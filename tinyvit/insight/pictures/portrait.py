"""A portrait of a model: embedding filters, positions and attention (ViT Figures 6 and 7)."""

import math
from collections.abc import Sequence

import numpy as np

from tinyvit.insight.filters import filter_pictures
from tinyvit.insight.pictures.attention import (
    GAP,
    SCALE_WIDTH,
    SeenPhoto,
    attention_overlay,
    draw_attention_scale,
)
from tinyvit.insight.pictures.colours import INK, QUIET, heat_colours
from tinyvit.insight.pictures.sheet import File, Part, Sheet, cut, save_parts, text_width

HEIGHT = 640  # of each of the three parts, in pixels; the third is taller if there are many images

Row = tuple[np.ndarray, np.ndarray, str]  # image (H, W, 3) uint8, attention (gh, gw), caption


def save_portrait(
    filters: np.ndarray,
    similarity: np.ndarray | None,
    rows: Sequence[Row] | None,
    path: File,
    title: str,
    reader: str = "patch embedding",
) -> None:
    """Draw filters (count, P, P, 3), similarity (gh, gw, gh, gw) and attention rows to a PNG at path.

    reader is what the filters belong to. rows are None for a ResNet, or without images. If similarity is
    None, the picture says so in its place, unless only filters are drawn.
    """
    parts = [filters_part(filters, reader)]
    if similarity is not None:
        parts.append(_positions_part(similarity))
    elif rows is not None:
        nothing = "no vector belongs to a patch"
        parts.append(Part("position embedding", nothing, 0, HEIGHT, lambda sheet, left, top: None))
    if rows is not None:
        parts.append(attention_part(rows))
    save_parts(parts, path, title)


# Filters.

FILTER_COLUMNS, FILTER_SPACE = 4, 8


def filters_part(filters: np.ndarray, reader: str) -> Part:
    """Filters (count, P, P, 3) of what is called reader, in rows of four, their pixels still visible."""
    step = HEIGHT // max(math.ceil(len(filters) / FILTER_COLUMNS), 7)  # a side, and the space after it

    def draw(sheet: Sheet, left: int, top: int) -> None:
        for i, picture in enumerate(filter_pictures(filters)):
            row, column = divmod(i, FILTER_COLUMNS)
            sheet.image(left + column * step, top + row * step, picture, max(1, step - FILTER_SPACE))

    meaning = "the patterns it responds to most, strongest first"
    return Part(reader, meaning, step * FILTER_COLUMNS, HEIGHT, draw)


# Positions.

MOST_MAPS = 8  # rows and columns of position maps; of a larger grid, evenly spaced ones are shown
MAP_SPACE = 6


def _positions_part(similarity: np.ndarray) -> Part:
    """A map for each position, arranged like the positions; dark is dissimilar, light is similar."""
    gh, gw = similarity.shape[:2]
    down, across = (np.linspace(0, n - 1, min(n, MOST_MAPS)).round().astype(int) for n in (gh, gw))
    pitch = HEIGHT / max(len(down), len(across))
    map_width = max(1, int((pitch - MAP_SPACE) * gw / max(gh, gw)))
    lowest = similarity.min()
    shares = (similarity - lowest) / max(1 - lowest, 1e-12)  # 0 for the smallest, 1 remains 1

    def draw(sheet: Sheet, left: int, top: int) -> None:
        for r, row in enumerate(down):
            for c, column in enumerate(across):
                at = left + round(c * pitch), top + round(r * pitch)
                sheet.image(*at, heat_colours(shares[row, column]), map_width)
        _draw_scale(sheet, left, top + HEIGHT + 16, part.whole_width, f"cosine {lowest:.2f}", "1")

    meaning = "how similar each position is to all the others"
    part = Part("position embedding", meaning, round(pitch * len(across)), HEIGHT, draw)
    return part


SIDE, SMALL_SIDE = 760, 380  # about how large the maps of a table are together, alone and beside others
SPACE = 3  # between the maps of two patches
LABEL, BETWEEN = 26, 24  # above a table, or a map of offsets, and around it


def save_similarities(
    similarities: Sequence[np.ndarray], path: File, title: str, learned: bool = True
) -> None:
    """Draw position similarities (gh, gw, gh, gw), one for each block if there are several, to a PNG."""
    several = len(similarities) > 1
    low = min(1 - 1e-6, *(float(similarity.min()) for similarity in similarities))
    tiles = [_grid_of_maps(one, low, SMALL_SIDE if several else SIDE) for one in similarities]
    labels = [f"block {i + 1}" if several else "" for i in range(len(tiles))]
    name = "position embedding" if learned else "position embedding, fixed"
    meaning = "a map for each patch: the cosine of its position with every other"
    part = _tiled(name, meaning, tiles, labels, f"cosine {low:.2f}", "1", math.ceil(math.sqrt(len(tiles))))
    save_parts([part], path, title)


def save_offset_scores(scores: np.ndarray, path: File, title: str, shared: bool = False) -> None:
    """Draw the scores of offsets (layers, heads, 2 gh - 1, 2 gw - 1) to a PNG: a map for each head.

    shared says that all blocks read the same table of offsets.
    """
    layers, heads, h, w = scores.shape
    most = max(float(np.abs(scores).max()), 1e-12)
    shares = 0.5 + scores.reshape(-1, h, w) / (2 * most)
    tiles = [_enlarged(heat_colours(share), max(1, 110 // max(h, w))) for share in shares]
    labels = [f"block {i + 1}, head {j + 1}" for i in range(layers) for j in range(heads)]
    meaning = "what each head gives to a key's place by itself; the query is in the middle"
    name = "relative positions, one table for all blocks" if shared else "relative positions"
    part = _tiled(name, meaning, tiles, labels, f"score {-most:.2g}", f"{most:.2g}", heads)
    save_parts([part], path, title)


def _grid_of_maps(similarity: np.ndarray, low: float, side: int) -> np.ndarray:
    """The maps of all patches, laid out like the patches: uint8 (height, width, 3)."""
    gh, gw = similarity.shape[:2]
    pixels = max(1, math.ceil(side / max(gh, gw) ** 2))  # a side of each patch in a map
    colours = _enlarged(heat_colours((similarity - low) / (1 - low)), pixels)
    framed = np.pad(colours, ((0, 0), (0, 0), (0, SPACE), (0, SPACE), (0, 0)), constant_values=255)
    return framed.transpose(0, 2, 1, 3, 4).reshape(gh * framed.shape[2], gw * framed.shape[3], 3)


def _enlarged(colours: np.ndarray, pixels: int) -> np.ndarray:
    """Colours (..., h, w, 3), each as a square of that many pixels."""
    return colours.repeat(pixels, axis=-3).repeat(pixels, axis=-2)


def _tiled(
    name: str, meaning: str, tiles: list[np.ndarray], labels: list[str], low: str, high: str, columns: int
) -> Part:
    """Pictures of one size in rows, each below its label, and the scale of their colours."""
    height, width = tiles[0].shape[:2]
    above = LABEL if any(labels) else 0
    across = max([width, *(math.ceil(text_width(label, 13)) for label in labels)]) + BETWEEN
    down = above + height + (BETWEEN if len(tiles) > 1 else 0)
    whole = max(across * columns - BETWEEN, 240), down * math.ceil(len(tiles) / columns)

    def draw(sheet: Sheet, left: int, top: int) -> None:
        for i, (tile, label) in enumerate(zip(tiles, labels, strict=True)):
            x, y = left + i % columns * across, top + i // columns * down
            sheet.text(x, y + LABEL / 2, label, 13, QUIET, "lm")
            sheet.image(x, y + above, tile)
        _draw_scale(sheet, left, top + whole[1] + 16, min(whole[0], 420), low, high)

    return Part(name, meaning, *whole, draw)


def _draw_scale(sheet: Sheet, left: int, top: int, width: int, low: str, high: str) -> None:
    """Draw the heat colours in a bar between the words for its two ends, width points in all."""
    start = left + math.ceil(text_width(low, 14)) + 12
    stop = left + width - math.ceil(text_width(high, 14)) - 12
    sheet.image(start, top, heat_colours(np.linspace(0, 1, max(stop - start, 2)))[None].repeat(12, axis=0))
    sheet.text(left, top + 6, low, 14, QUIET, "lm")
    sheet.text(left + width, top + 6, high, 14, QUIET, "rm")


# Attention.

LARGEST_IMAGE, SMALLEST_IMAGE = 300, 110  # side of an image shown with its attention
CAPTION, LINE_SPACE, IMAGE_SPACE = 28, 10, 22  # below an image: its caption, then space; space between images


def attention_layout(count: int) -> tuple[int, int, int]:
    """Number of images in a row, number of rows, and the side of an image, in pixels.

    They are as large as fits into HEIGHT; 21 or more images are small, and make the part taller.
    """
    if count <= 8:
        columns = 1 if count <= 2 else 2
    else:
        columns = max(math.ceil(min(count, 20) / 4), round(math.sqrt(0.8 * count)))
    lines = math.ceil(count / columns)
    side = (HEIGHT + LINE_SPACE) // lines - CAPTION - LINE_SPACE
    return columns, lines, min(max(side, SMALLEST_IMAGE), LARGEST_IMAGE)


def attention_part(rows: Sequence[Row]) -> Part:
    """Each image next to its attention, with its caption below."""
    if not rows:
        raise ValueError("no images to show attention on: expected at least one")
    columns, lines, side = attention_layout(len(rows))
    across, down = 2 * side + GAP + IMAGE_SPACE, side + CAPTION + LINE_SPACE  # from an image to the next
    width, height = max(columns * across - IMAGE_SPACE, SCALE_WIDTH), lines * down - LINE_SPACE
    size = 15 if side > SMALLEST_IMAGE else 13

    def draw(sheet: Sheet, left: int, top: int) -> None:
        for i, (image, attention, caption) in enumerate(rows):
            x, y = left + i % columns * across, top + i // columns * down
            pair = attention_overlay(SeenPhoto.seen_whole(image), attention, (side, side))
            sheet.image(x, y, pair)
            sheet.text(x, y + pair.height + 15, cut(caption, across - IMAGE_SPACE, size), size, INK, "lm")
        draw_attention_scale(sheet, left, top + height + 16)

    return Part("attention", "where the last block looks", width, max(HEIGHT, height), draw)
