"""The gradient of the images is gathered in zeros of float64."""

from pathlib import Path

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))
_wrong = changed(
    Path(__file__).parents[3] / "tinyvit/ops/windows.py",
    (", dtype=dy.dtype)", ")"),
)
windows = _wrong["windows"]
windows_backward = _wrong["windows_backward"]
