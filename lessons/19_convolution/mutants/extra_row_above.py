"""SAME puts the odd row of padding above the image, and the odd column to its left."""

from pathlib import Path

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))
_wrong = changed(
    Path(__file__).parents[3] / "tinyvit/ops/windows.py",
    ("return count, added // 2, added - added // 2", "return count, added - added // 2, added // 2"),
)
windows = _wrong["windows"]
windows_backward = _wrong["windows_backward"]
