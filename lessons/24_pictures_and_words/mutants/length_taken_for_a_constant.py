"""The length is taken for a constant: the part of dy along y is left in."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("(dy - y * (dy * y).sum(axis=-1, keepdims=True)) / length", "dy / length"),
    )
)
