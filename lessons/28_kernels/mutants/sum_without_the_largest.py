"""The exponentials are added without subtracting the largest logit."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("float largest = -1e30f, sum = 0;", "float largest = 0, sum = 0;"),
        ("        const float now = fmaxf(largest, z[c]);", "        const float now = 0;"),
        ("        const float now = fmaxf(largest, theirs);", "        const float now = 0;"),
    )
)
