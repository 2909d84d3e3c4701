"""The inner derivative lacks the 3 of h cubed."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("6 * CUBIC", "2 * CUBIC"),
    )
)
