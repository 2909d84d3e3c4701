"""w is replaced by a new array, and the caller's stays as it was."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("w -= rate * g", "w = w - rate * g"),
    )
)
