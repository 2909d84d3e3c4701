"""Only the weights of rank 0 are looked at."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("for w in found)", "for w in found[:1])"),
    )
)
