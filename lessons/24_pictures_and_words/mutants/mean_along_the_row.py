"""The part along y is a mean over the row, and should be a sum."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("(dy * y).sum(axis=-1, keepdims=True)", "(dy * y).mean(axis=-1, keepdims=True)"),
    )
)
