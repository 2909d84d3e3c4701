"""Pieces of at least two rows, however long they are."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("max(1, PIECE // M)", "max(2, PIECE // M)"),
    )
)
