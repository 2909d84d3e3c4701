"""The pieces are worked on one after another."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("    B = len(images)\n", "    B, threads = len(images), 1\n"),
    )
)
