"""The first exchange is over 8 lanes: each half of the warp has a sum of its own."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "for (int distance = 16; distance > 0; distance /= 2)\n        sum += ",
            "for (int distance = 8; distance > 0; distance /= 2)\n        sum += ",
        ),
    )
)
