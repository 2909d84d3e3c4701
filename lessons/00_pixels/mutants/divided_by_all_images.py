"""Each class's sum is divided by the number of all images, and not of its own."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("x[labels == c].mean(axis=0)", "x[labels == c].sum(axis=0) / len(x)"),
    )
)
