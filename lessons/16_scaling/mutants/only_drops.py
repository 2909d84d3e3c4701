"""A difference counts only if the first list is better."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("abs(first.mean() - second.mean())", "(first.mean() - second.mean())"),
    )
)
