"""The rows of same are taken for texts and its columns for images."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("S = cosines + bias", "same = same.T\n    S = cosines + bias"),
    )
)
