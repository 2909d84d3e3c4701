"""What is left when the backward ends is not sent."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("(held >= limit or number == 0)", "held >= limit"),
    )
)
