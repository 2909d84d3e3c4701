"""Additions of the lessons' figures to the library's drawing kit: boxes with text, matrices as cells.

Coordinates are in points from the top left corner; the file has two pixels a point, to be sharp on any
screen.
"""

from __future__ import annotations

import numpy as np

from tinyvit.insight.pictures import sheet
from tinyvit.insight.pictures.axes import Axes, nice_ticks
from tinyvit.insight.pictures.colours import AXIS, BLUE, FAINT, GREEN, INK, ORANGE, PAPER, QUIET, RED, tint

__all__ = ["AXIS", "BLUE", "FAINT", "GREEN", "INK", "ORANGE", "PAPER", "QUIET", "RED"]
__all__ += ["Axes", "Sheet", "nice_ticks", "plot_losses"]


class Sheet(sheet.Sheet):
    """White paper of the given size in points."""

    def __init__(self, width: int, height: int):
        super().__init__(width, height, pixels=2, smooth=2)

    def arrow(self, start: sheet.Point, end: sheet.Point, colour: str = INK, width: float = 1.5) -> None:
        """A straight arrow."""
        (x0, y0), (x1, y1) = start, end
        direction = np.array([x1 - x0, y1 - y0]) / np.hypot(x1 - x0, y1 - y0)
        across = np.array([-direction[1], direction[0]])
        neck = np.array(end) - 7 * direction
        self.line([start, tuple(neck)], colour, width)
        self._polygon([end, tuple(neck + 3.5 * across), tuple(neck - 3.5 * across)], colour)

    def box(
        self, x: float, y: float, width: float, height: float, fill: str = PAPER, outline: str = INK
    ) -> None:
        """A rectangle with round corners; (x, y) is its top left corner."""
        corners = self._scaled([(x, y), (x + width, y + height)])
        self._draw.rounded_rectangle(corners, 5 * self._scale, fill, outline, round(1.2 * self._scale))

    def labelled_box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        label: str,
        fill: str = "#eef3fc",
        size: float = 13,
    ) -> None:
        """A box with text in its middle."""
        self.box(x, y, width, height, fill)
        self.text(x + width / 2, y + height / 2, label, size)

    def grid(
        self,
        x: float,
        y: float,
        values: np.ndarray,
        cell: float = 36,
        form: str | None = "{:.2f}",
        limit: float | None = None,
        size: float = 11,
    ) -> tuple[float, float]:
        """A matrix (rows, columns) as cells: blue above 0, orange below, white at 0, full colour at limit.

        form writes each value, None leaves the cells empty. Returns the grid's width and height.
        """
        values = np.atleast_2d(values)
        limit = limit or float(np.abs(values).max()) or 1.0
        for (r, c), value in np.ndenumerate(values):
            self.rectangle(x + c * cell, y + r * cell, cell, cell, _shade(value / limit), FAINT)
            if form is not None:
                self.text(x + (c + 0.5) * cell, y + (r + 0.5) * cell, form.format(value), size)
        return values.shape[1] * cell, values.shape[0] * cell


def plot_losses(
    paper: Sheet, left: float, top: float, losses: np.ndarray, colours: tuple[str, ...], x_name: str
) -> None:
    """Losses (n, curves) from 0 upwards, beside the loss of guessing blindly among ten classes."""
    count, guessing = len(losses), float(np.log(10))
    highest = max(1.1 * guessing, float(losses.max()))
    axes = Axes(paper, (left, top, left + 280, top + 140), (1, count), (0, highest))
    axes.curve((1, count), (guessing, guessing), AXIS, 1.2)
    axes.frame()
    axes.y_ticks([y for y in nice_ticks(0, highest, 5) if y <= highest], grid=False)
    axes.x_ticks((1, count // 2, count))
    axes.x_name(x_name)
    for column, colour in zip(losses.T, colours, strict=True):
        axes.curve(range(1, count + 1), column.tolist(), colour)
    ends = [(count, float(y), f"{y:.2f}", c) for y, c in zip(losses[-1], colours, strict=True)]
    axes.label_ends([*ends, (count, guessing, "log 10", QUIET)])


def _shade(share: float) -> str:
    """White at 0, blue towards 1, orange towards -1."""
    return tint(BLUE if share > 0 else ORANGE, 0.75 * min(abs(share), 1))
