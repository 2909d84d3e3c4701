"""eps is added to the standard deviation instead of the variance."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("1 / sqrtf(warp_sum(squares) / D + eps)", "1 / (sqrtf(warp_sum(squares) / D) + eps)"),
    )
)
