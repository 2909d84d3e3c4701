"""Training goes on after a mean that is not finite."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("                break\n", "                continue\n"),
    )
)
