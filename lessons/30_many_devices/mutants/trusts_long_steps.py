"""No gradient is too long."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("(7, 3, 0.3), (2, 3, 5.0), (5, 1, 0.7)", "(2, 3, 5.0)"),
    )
)
