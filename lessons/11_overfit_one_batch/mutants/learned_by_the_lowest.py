"""A run has learned if its lowest loss was low, wherever it ended."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("if losses[-1] < 0.1 * guess", "if min(losses) < 0.1 * guess"),
    )
)
