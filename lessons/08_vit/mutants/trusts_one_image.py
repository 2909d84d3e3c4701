"""The gradient check runs on a single image."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "rng.normal(size=(2, 4, 6, 3))",
            "rng.normal(size=(1, 4, 6, 3))",
        ),
    )
)
