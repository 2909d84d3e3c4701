"""Queries and keys are both scaled."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("new_weight[:, :D] *= scale", "new_weight[:, : 2 * D] *= scale"),
    )
)
