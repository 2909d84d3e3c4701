"""The padding above and to the left is (k - 1) / 2 whatever the stride, as with PyTorch's padding=1."""

from pathlib import Path

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))
_wrong = changed(
    Path(__file__).parents[3] / "tinyvit/ops/windows.py",
    ("return count, added // 2, added - added // 2", "return count, (size - 1) // 2, added"),
)
windows = _wrong["windows"]
windows_backward = _wrong["windows_backward"]
