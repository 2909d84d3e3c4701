"""The inner derivative begins with 1 where the square root of 2 / pi belongs."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("square += 2 * LINEAR", "square += 2"),
    )
)
