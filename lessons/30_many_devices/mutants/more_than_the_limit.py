"""A bucket of exactly `limit` bytes is not full."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("held >= limit", "held > limit"),
    )
)
