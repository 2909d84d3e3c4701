"""The first bucket waits for the end of the backward."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("    clock = free = 0.0\n", "    clock, free = 0.0, sum(seconds for seconds, _ in layers)\n"),
    )
)
