"""The check demands singular values of 1."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("values.min() > 0.6 and values.max() < 1.3", "values.min() > 0.99 and values.max() < 1.01"),
    )
)
