"""The picture of a study: a row for each variant, or lines over an axis; every run is a dot."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tinyvit.insight.pictures.axes import Axes, draw_legend, legend_width, nice_ticks
from tinyvit.insight.pictures.colours import BLUE, GRID, INK, QUIET, SERIES, tint
from tinyvit.insight.pictures.sheet import File, Sheet, text_width

WIDTH = 900  # of the picture, in pixels
TOP, ROW, BOTTOM = 96, 34, 64  # above the first row, a row, below the last
LINES_HEIGHT = 520
LEFT, RIGHT = 76, 40  # beside the lines' plot


@dataclass(frozen=True)
class Found:
    """Accuracies (0..1) of a variant's runs, at x on the lines it belongs to; without x, it is a level."""

    name: str
    values: Sequence[float]
    lines: Sequence[str] = ()
    x: float | None = None

    @property
    def mean(self) -> float:
        return 100 * sum(self.values) / len(self.values)


def draw_rows(title: str, subtitle: str, found: Sequence[Found], path: File) -> None:
    """Draw a row for each variant to a PNG: a mark at the mean of its accuracies, a dot for each.

    The axis covers what was found, and does not begin at 0: the places of marks are compared, not lengths.
    """
    shown = _with_values(found)
    left = 40 + max(text_width(one.name, 16) for one in shown) + 24
    bottom = TOP + ROW * len(shown)
    sheet = _sheet(title, subtitle, bottom + BOTTOM)
    ticks = _accuracy_ticks(shown)
    axes = Axes(sheet, (left, TOP, WIDTH - 110, bottom), (ticks[0], ticks[-1]), (0, 1))
    axes.x_ticks(ticks, size=13, grid=True)
    sheet.text(WIDTH - 110, bottom + 42, "test accuracy, %", 13, QUIET, "rm")
    for i, one in enumerate(shown):
        row = TOP + ROW * (i + 0.5)
        mean, _ = axes.place(one.mean, 0)
        sheet.line([(left, row), (WIDTH - 110, row)], GRID, 1)
        for value in one.values:
            sheet.dot((axes.place(100 * value, 0)[0], row), 4.5, tint(BLUE, 0.55))
        sheet.line([(mean, row - 10), (mean, row + 10)], BLUE, 3)
        sheet.text(left - 12, row, one.name, 16, INK, "rm")
        sheet.text(WIDTH - 94, row, f"{one.mean:.1f}%", 16, INK, "lm")
    sheet.save(path)


def draw_lines(
    title: str, subtitle: str, found: Sequence[Found], x_name: str, label: Callable[[float], str], path: File
) -> None:
    """Draw lines through the mean accuracies of variants over a logarithmic axis to a PNG.

    label(x) is how a number on that axis is written. Levels, which have no x, are dashed.
    """
    shown = _with_values(found)
    xs = sorted({one.x for one in shown if one.x is not None}) or [1.0]
    ticks = _accuracy_ticks(shown)
    sheet = _sheet(title, subtitle, LINES_HEIGHT)
    box = (LEFT, TOP + 24, WIDTH - RIGHT, LINES_HEIGHT - BOTTOM)
    margin = (xs[-1] / xs[0]) ** 0.04 if len(xs) > 1 else 2.0
    axes = Axes(sheet, box, (xs[0] / margin, xs[-1] * margin), (ticks[0], ticks[-1]), "x")
    axes.y_ticks(ticks, size=13)
    axes.frame(GRID)
    labelled = _apart(xs, axes)
    axes.x_ticks(labelled, [label(x) for x in labelled], size=13)
    sheet.text(LEFT - 36, TOP, "test accuracy, %", 13, QUIET, "lm")
    sheet.text(WIDTH - RIGHT, LINES_HEIGHT - BOTTOM + 42, x_name, 13, QUIET, "rm")
    names = list(dict.fromkeys(name for one in shown for name in one.lines))
    colours = [SERIES[i % len(SERIES)] for i in range(len(names))]
    for name, colour in zip(names, colours, strict=True):
        mine = sorted((one for one in shown if name in one.lines), key=lambda one: one.x or 0)
        points = [(one.x, one.mean) for one in mine if one.x is not None]
        if not points:  # a level
            axes.curve(axes.x_range, (mine[0].mean,) * 2, colour, 2, dashed=True)
            continue
        axes.curve(*zip(*points, strict=True), colour, 2.2)
        for one in mine:  # its runs in a paler shade, and their mean
            for value in one.values if len(one.values) > 1 else ():
                sheet.dot(axes.place(one.x, 100 * value), 3, tint(colour, 0.55))
            sheet.dot(axes.place(one.x, one.mean), 5, colour)
    _legend(sheet, names, colours)
    sheet.save(path)


def _legend(sheet: Sheet, names: Sequence[str], colours: Sequence[str]) -> None:
    """The names of the lines beside their colours, in a row that ends at the right, or in two."""
    width = lambda names: sum(legend_width(name, 15) for name in names)
    is_wide = width(names) > WIDTH - RIGHT - 200
    half = (len(names) + 1) // 2 if is_wide else len(names)
    for row, some in enumerate((slice(half), slice(half, None))):
        left = WIDTH - RIGHT + 22 - width(names[some])
        draw_legend(sheet, (left, TOP - 10 * is_wide + 22 * row), names[some], colours[some], 15)


def _sheet(title: str, subtitle: str, height: int) -> Sheet:
    sheet = Sheet(WIDTH, height)
    sheet.title(title, 40)
    sheet.title(subtitle, 40, 60, 14, QUIET)
    return sheet


def _with_values(found: Sequence[Found]) -> list[Found]:
    shown = [one for one in found if one.values]
    if not shown:
        raise ValueError("no results to draw: expected at least one")
    return shown


def _accuracy_ticks(found: Sequence[Found]) -> list[float]:
    """Ticks, in percent, around everything that was found."""
    values = [100 * value for one in found for value in one.values]
    low, high = min(values), max(values)
    pad = max(1.0, 0.08 * (high - low))
    return nice_ticks(max(0.0, low - pad), min(100.0, high + pad))


def _apart(xs: Sequence[float], axes: Axes) -> list[float]:
    """Those of the ascending values that are at least the width of a label apart on the axis."""
    places = {x: axes.place(x, axes.y_range[0])[0] for x in xs}
    kept = [xs[0]]
    for x in xs[1:]:
        if places[x] - places[kept[-1]] >= 52:
            kept.append(x)
    return kept
