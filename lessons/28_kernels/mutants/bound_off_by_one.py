"""The bound lets one thread too many through."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("if (i >= rows * D) return;", "if (i > rows * D) return;"),
    )
)
