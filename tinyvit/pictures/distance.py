"""How far each head looks: a dot for each head of each block (ViT Figure 7, right, and Figure 11)."""

import os

import numpy as np

from tinyvit.pictures.axes import Axes, nice_ticks, whole_ticks
from tinyvit.pictures.colours import BLUE, FAINT, ORANGE, QUIET
from tinyvit.pictures.parts import HEAD, Part, save_parts
from tinyvit.pictures.sheet import Sheet

WIDTH, HEIGHT = 640, 400  # of the frame and its names, in points
NAMES, RIGHT = 62, 130  # room left of the frame, and right of it for the label of the dashed line


def save_distance(
    distance: np.ndarray, uniform: float, images: int, path: str | os.PathLike[str], title: str
) -> None:
    """Draw distances (layers, heads) in pixels, and that of uniform attention, to a PNG, atomically.

    images is how many the distances are a mean over. Raises UserError if the picture cannot be written.
    """
    layers, heads = distance.shape
    top = nice_ticks(0, max(distance.max(), uniform, 1e-3))
    where = f"mean over {images:,} images" if images > 1 else "in one image"

    def draw(sheet: Sheet, left: int) -> None:
        box = (left + NAMES, HEAD + 8, left + WIDTH - RIGHT, HEAD + HEIGHT)
        axes = Axes(sheet, box, (0.5, layers + 0.5), (0, top[-1]))
        axes.y_ticks(top)
        axes.x_ticks(whole_ticks(1, max(layers, 2), 12)[: layers if layers < 12 else None])
        axes.frame()
        axes.x_name("block")
        blocks = range(1, layers + 1)
        axes.curve((0.5, layers + 0.5), (uniform, uniform), ORANGE, 1.5, dashed=True)
        if layers > 1:
            axes.curve(blocks, distance.mean(axis=1), FAINT, 2)
        for block, row in zip(blocks, distance, strict=True):
            for value in sorted(row):
                sheet.dot(axes.place(block, value), 3.5, BLUE)
        ends = [(layers + 0.5, uniform, f"uniform: {uniform:.1f}", ORANGE)]
        if layers > 1 and heads > 1:
            ends.append((layers + 0.5, distance[-1].mean(), "mean of the heads", QUIET))
        axes.label_ends(ends, 13)

    part = Part("attention distance", f"in pixels, a dot for each head, {where}", WIDTH, HEIGHT, draw)
    save_parts([part], path, title, smooth=3)
