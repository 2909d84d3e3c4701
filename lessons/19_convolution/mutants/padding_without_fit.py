"""A VALID window that does not fit gives no windows, and no error."""

from pathlib import Path

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))
_wrong = changed(
    Path(__file__).parents[3] / "tinyvit/ops/windows.py",
    ("if length < size:", "if length < size - 1:"),
)
windows = _wrong["windows"]
windows_backward = _wrong["windows_backward"]
