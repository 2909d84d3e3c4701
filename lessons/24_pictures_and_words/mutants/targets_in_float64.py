"""The targets are made with np.ones, in float64, and so is every gradient."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("- same) / B", "- np.ones((B, B)) * same) / B"),
    )
)
