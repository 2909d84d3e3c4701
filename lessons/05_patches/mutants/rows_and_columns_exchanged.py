"""The patches are taken to be numbered down the columns."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("reshape(B, rows, columns, D)", "reshape(B, columns, rows, D).swapaxes(1, 2)"),
    )
)
