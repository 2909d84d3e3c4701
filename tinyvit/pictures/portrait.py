"""A model's portrait: embedding filters, position similarity and attention (ViT Figures 6 and 7)."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from tinyvit.analysis.filters import filter_pictures
from tinyvit.files.atomic import write_atomically
from tinyvit.pictures.attention import attention_overlay, heat_colours

HEIGHT = 640  # of each of the three pictures, in pixels
MARGIN, GAP, HEAD, FOOT = 44, 60, 128, 62  # around them; FOOT holds the scale of the similarity
PAPER, INK, QUIET, FAINT = "#ffffff", "#1c2430", "#6b7686", "#d9dee6"
FILTER_COLUMNS = 4
MOST_PLACES = 8  # rows and columns of position maps: of a larger grid, evenly chosen ones are shown

Row = tuple[np.ndarray, np.ndarray, str]  # image (H, W, 3) uint8, attention (gh, gw), caption


def save_portrait(
    filters: np.ndarray,
    similarity: np.ndarray,
    rows: Sequence[Row],
    path: str | os.PathLike[str],
    title: str,
) -> None:
    """Draw filters (count, P, P, 3), similarity (gh, gw, gh, gw) and attention rows to a PNG, in one go.

    Raises ValueError without rows, UserError if the picture cannot be written.
    """
    if not rows:
        raise ValueError("no images to show attention on: expected at least one")
    panels = (
        ("patch embedding", "the patterns it answers to most, strongest first", filter_panel(filters)),
        ("position embedding", "how like each place is to all others", similarity_panel(similarity)),
        ("attention", "where the last block looks", attention_panel(rows)),
    )
    width = 2 * MARGIN + sum(panel.width for *_, panel in panels) + GAP * (len(panels) - 1)
    sheet = Image.new("RGB", (width, HEAD + HEIGHT + FOOT), PAPER)
    draw = ImageDraw.Draw(sheet)
    draw.text((MARGIN, 40), title, INK, ImageFont.load_default(26), anchor="lm")
    left = MARGIN
    for name, meaning, panel in panels:
        draw.text((left, 84), name, INK, ImageFont.load_default(19), anchor="lm")
        draw.text((left, 108), meaning, QUIET, ImageFont.load_default(15), anchor="lm")
        sheet.paste(panel, (left, HEAD))
        if name == "position embedding":
            _draw_scale(sheet, (left, HEAD + HEIGHT + 16), panel.width, similarity)
        left += panel.width + GAP
    write_atomically(Path(path), lambda file: sheet.save(file, "PNG"))


def filter_panel(filters: np.ndarray) -> Image.Image:
    """Filters in rows of four, each enlarged with its pixels left to be seen."""
    pictures = filter_pictures(filters)
    lines = math.ceil(len(pictures) / FILTER_COLUMNS)
    cell, space = HEIGHT // max(lines, 7), 8
    panel = Image.new("RGB", (FILTER_COLUMNS * cell, HEIGHT), PAPER)
    for i, picture in enumerate(pictures):
        tile = Image.fromarray(picture).resize((cell - space, cell - space), Image.Resampling.NEAREST)
        panel.paste(tile, (i % FILTER_COLUMNS * cell, i // FILTER_COLUMNS * cell))
    return panel


def similarity_panel(similarity: np.ndarray) -> Image.Image:
    """A map for each place, laid out as the places lie; dark is unlike, light is alike."""
    gh, gw = similarity.shape[:2]
    down, across = _chosen(gh), _chosen(gw)
    cell, space = HEIGHT / max(len(down), len(across)), 6
    panel = Image.new("RGB", (round(cell * len(across)), HEIGHT), PAPER)
    colours = heat_colours(_share_of_range(similarity))
    side = round(cell - space)
    longest = max(gh, gw)
    size = round(side * gw / longest), round(side * gh / longest)
    for r, row in enumerate(down):
        for c, column in enumerate(across):
            tile = Image.fromarray(colours[row, column]).resize(size, Image.Resampling.NEAREST)
            panel.paste(tile, (round(c * cell), round(r * cell)))
    return panel


def attention_panel(rows: Sequence[Row]) -> Image.Image:
    """Each image beside its attention, its caption below, in two columns where there are more than two."""
    columns = 1 if len(rows) <= 2 else 2
    lines = math.ceil(len(rows) / columns)
    caption, space = 30, 22
    height = HEIGHT // lines - caption
    pairs = [attention_overlay(image, attention) for image, attention, _ in rows]
    pairs = [_within(pair, height) for pair in pairs]
    cell = max(pair.width for pair in pairs) + space
    panel = Image.new("RGB", (columns * cell - space, HEIGHT), PAPER)
    draw = ImageDraw.Draw(panel)
    for i, (pair, (_, _, text)) in enumerate(zip(pairs, rows, strict=True)):
        left, top = i % columns * cell, i // columns * (height + caption)
        panel.paste(pair, (left, top))
        draw.text((left, top + height + 13), text, INK, ImageFont.load_default(15), anchor="lm")
    return panel


def _chosen(count: int) -> np.ndarray:
    """All of 0 ... count - 1, or at most MOST_PLACES of them, evenly spread."""
    return np.linspace(0, count - 1, min(count, MOST_PLACES)).round().astype(int)


def _share_of_range(similarity: np.ndarray) -> np.ndarray:
    """The least similarity to 0, 1 to 1."""
    lowest = similarity.min()
    return (similarity - lowest) / max(1 - lowest, 1e-12)


def _draw_scale(sheet: Image.Image, at: tuple[int, int], width: int, similarity: np.ndarray) -> None:
    """The colours under the maps, with the least and the largest cosine at their ends."""
    draw, font = ImageDraw.Draw(sheet), ImageFont.load_default(14)
    left, top = at
    low = f"cosine {similarity.min():.2f}"
    start = left + math.ceil(font.getlength(low)) + 12
    bar = heat_colours(np.linspace(0, 1, max(left + width - 30 - start, 2)))[None].repeat(12, axis=0)
    sheet.paste(Image.fromarray(bar), (start, top))
    draw.text((left, top + 6), low, QUIET, font, anchor="lm")
    draw.text((left + width, top + 6), "1", QUIET, font, anchor="rm")


def _within(image: Image.Image, height: int) -> Image.Image:
    """The image at a height, its shape kept."""
    return image.resize((round(image.width * height / image.height), height), Image.Resampling.LANCZOS)
