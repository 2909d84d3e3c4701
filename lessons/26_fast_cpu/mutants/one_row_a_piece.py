"""Every piece is a single row, however short."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("max(1, PIECE // M)", "1"),
    )
)
