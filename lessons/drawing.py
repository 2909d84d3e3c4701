"""A sheet of paper for the lessons' figures: text, arrows, number grids and curves, drawn with Pillow.

Coordinates are in points from the top left corner; everything is drawn at three times its size and shrunk
by half of that, so that it is sharp on any screen. The paper is white with dark ink: readable on light and
dark pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

INK, QUIET, FAINT, PAPER = "#1c2430", "#6b7686", "#d9dee6", "#ffffff"
BLUE, ORANGE, GREEN, RED = "#2f6fdb", "#d9751a", "#14966b", "#c8384a"
_DRAWN, _SAVED = 4, 2  # pixels a point, while drawing and in the file


class Sheet:
    """White paper of the given size in points."""

    def __init__(self, width: int, height: int):
        self.size = width, height
        self._image = Image.new("RGB", (width * _DRAWN, height * _DRAWN), PAPER)
        self._draw = ImageDraw.Draw(self._image)

    def text(
        self, x: float, y: float, text: str, size: float = 14, colour: str = INK, anchor: str = "mm"
    ) -> None:
        """Text at (x, y); anchor as in Pillow: 'mm' centred, 'lm' from the left, 'rm' to the right."""
        font = ImageFont.load_default(size * _DRAWN)
        self._draw.text((x * _DRAWN, y * _DRAWN), text, fill=colour, font=font, anchor=anchor)

    def line(self, points: Sequence[tuple[float, float]], colour: str = INK, width: float = 1.5) -> None:
        """A polyline through the points."""
        scaled = [(x * _DRAWN, y * _DRAWN) for x, y in points]
        self._draw.line(scaled, fill=colour, width=round(width * _DRAWN), joint="curve")

    def arrow(
        self, start: tuple[float, float], end: tuple[float, float], colour: str = INK, width: float = 1.5
    ) -> None:
        """A straight arrow."""
        (x0, y0), (x1, y1) = start, end
        direction = np.array([x1 - x0, y1 - y0]) / np.hypot(x1 - x0, y1 - y0)
        across = np.array([-direction[1], direction[0]])
        neck = np.array(end) - 7 * direction
        self.line([start, tuple(neck)], colour, width)
        head = [np.array(end), neck + 3.5 * across, neck - 3.5 * across]
        self._draw.polygon([tuple(p * _DRAWN) for p in head], fill=colour)

    def box(
        self, x: float, y: float, width: float, height: float, fill: str = PAPER, outline: str = INK
    ) -> None:
        """A rectangle with round corners; (x, y) is its top left corner."""
        corners = (x * _DRAWN, y * _DRAWN, (x + width) * _DRAWN, (y + height) * _DRAWN)
        self._draw.rounded_rectangle(corners, 5 * _DRAWN, fill, outline, round(1.2 * _DRAWN))

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
            corners = [(x + c * cell), (y + r * cell), (x + (c + 1) * cell), (y + (r + 1) * cell)]
            self._draw.rectangle([v * _DRAWN for v in corners], _shade(value / limit), FAINT, _DRAWN)
            if form is not None:
                self.text(x + (c + 0.5) * cell, y + (r + 0.5) * cell, form.format(value), size)
        return values.shape[1] * cell, values.shape[0] * cell

    def image(self, x: float, y: float, pixels: np.ndarray, width: float) -> None:
        """uint8 pixels (H, W, 3) or (H, W), enlarged without smoothing to the given width."""
        picture = Image.fromarray(pixels).convert("RGB")
        height = width * picture.height / picture.width
        size = round(width * _DRAWN), round(height * _DRAWN)
        self._image.paste(
            picture.resize(size, Image.Resampling.NEAREST), (round(x * _DRAWN), round(y * _DRAWN))
        )

    def plot(
        self,
        frame: tuple[float, float, float, float],
        curves: Sequence[tuple[np.ndarray, np.ndarray, str, str]],
        x_label: str = "",
        y_label: str = "",
    ) -> None:
        """Curves (x, y, colour, name) in a frame (x, y, width, height); the ends of both axes are written."""
        left, top, width, height = frame
        xs = np.concatenate([np.asarray(c[0], float) for c in curves])
        ys = np.concatenate([np.asarray(c[1], float) for c in curves])
        x0, x1, y0, y1 = xs.min(), xs.max(), ys.min(), ys.max()
        y0, y1 = y0 - 0.04 * (y1 - y0), y1 + 0.04 * (y1 - y0)
        self.line([(left, top), (left, top + height), (left + width, top + height)], QUIET, 1)
        for x, y, colour, _ in curves:
            points = zip(
                left + width * (np.asarray(x, float) - x0) / (x1 - x0),
                top + height * (y1 - np.asarray(y, float)) / (y1 - y0),
                strict=True,
            )
            self.line([tuple(map(float, point)) for point in points], colour, 2)
        for row, (_, _, colour, name) in enumerate(curves):
            self.text(left + width - 4, top + 8 + 16 * row, name, 12, colour, "rm")
        self.text(left, top + height + 12, f"{x0:g}", 11, QUIET, "lm")
        self.text(left + width, top + height + 12, f"{x1:g}", 11, QUIET, "rm")
        self.text(left + width / 2, top + height + 12, x_label, 12, INK)
        self.text(left - 6, top + height, f"{y0:.3g}", 11, QUIET, "rm")
        self.text(left - 6, top, f"{y1:.3g}", 11, QUIET, "rm")
        self.text(left, top - 12, y_label, 12, INK, "lm")

    def save(self, path: Path | str) -> None:
        """Write a PNG."""
        width, height = self.size
        small = self._image.resize((width * _SAVED, height * _SAVED), Image.Resampling.LANCZOS)
        small.save(path, optimize=True)


def _shade(share: float) -> str:
    """White at 0, blue towards 1, orange towards -1."""
    end = np.array([47, 111, 219] if share > 0 else [217, 117, 26])
    colour = 255 + (end - 255) * min(abs(share), 1) * 0.75
    return "#{:02x}{:02x}{:02x}".format(*(int(c) for c in colour.round()))
