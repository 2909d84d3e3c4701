"""The mean is made from the lane's own numbers."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("warp_sum(sum) / D;", "sum * 32 / D;"),
    )
)
