"""The part along y is that of all rows together, as if they were one long vector."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("(dy * y).sum(axis=-1, keepdims=True)", "(dy * y).sum()"),
    )
)
