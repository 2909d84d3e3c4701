"""The third path is added with the wrong sign."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("through_r = -r", "through_r = r"),
    )
)
