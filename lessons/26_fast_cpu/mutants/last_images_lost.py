"""Pieces of B // pieces images each: those left over at the end are never seen."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("    B = len(images)\n", "    B = len(images) // pieces * pieces\n"),
    )
)
