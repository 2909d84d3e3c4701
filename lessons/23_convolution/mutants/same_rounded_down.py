"""With SAME padding, the number of windows is rounded down."""

from pathlib import Path

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))
_wrong = changed(
    Path(__file__).parents[3] / "tinyvit/ops/windows.py",
    ("count = -(-length // stride)", "count = length // stride"),
)
windows = _wrong["windows"]
windows_backward = _wrong["windows_backward"]
