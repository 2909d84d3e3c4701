"""Rows that no VALID window has reached are missing in the gradient."""

from pathlib import Path

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))
_wrong = changed(
    Path(__file__).parents[3] / "tinyvit/ops/windows.py",
    (
        "return padded[:, top : top + H, left : left + W]",
        "return padded[:, top : min(top + H, (h - 1) * stride + size), left : left + W]",
    ),
)
windows = _wrong["windows"]
windows_backward = _wrong["windows_backward"]
