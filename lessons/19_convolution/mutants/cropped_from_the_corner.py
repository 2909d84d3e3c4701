"""The padding is cut off below and to the right only."""

from pathlib import Path

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))
_wrong = changed(
    Path(__file__).parents[3] / "tinyvit/ops/windows.py",
    ("return padded[:, top : top + H, left : left + W]", "return padded[:, :H, :W].copy()"),
)
windows = _wrong["windows"]
windows_backward = _wrong["windows_backward"]
