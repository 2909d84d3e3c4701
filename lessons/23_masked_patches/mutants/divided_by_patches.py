"""The sum is divided by the number of hidden patches, and not by that of their numbers."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("error.size - seen.size * error[0, 0].size", "error.shape[0] * error.shape[1] - seen.size"),
    )
)
