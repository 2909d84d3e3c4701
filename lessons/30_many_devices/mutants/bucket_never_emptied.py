"""A bucket holds what the ones before held, too."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("            held = 0\n", ""),
    )
)
