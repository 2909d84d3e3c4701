"""A short gradient is lengthened to the largest norm."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "toy.minimum(1.0, largest / toy.sqrt((g * g).sum()))",
            "toy.minimum(1e9, largest / toy.sqrt((g * g).sum() + 1e-30))",
        ),
    )
)
