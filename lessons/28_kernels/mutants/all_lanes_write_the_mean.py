"""All lanes of a warp write the mean and r of their row."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("    if (lane == 0) {\n        mean[row] = centre;", "    {\n        mean[row] = centre;"),
    )
)
