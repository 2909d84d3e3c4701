"""The kernel is turned, but its channels are left as they are where they fit."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (".swapaxes(2, 3)", ""),
    )
)
