"""Rows on which nobody is wrong."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "size=(2, 70)), rng.normal(1, 0.5, 70), rng.normal(size=70)",
            "size=(2, 60)), rng.normal(1, 0.5, 60), rng.normal(size=60)",
        ),
    )
)
