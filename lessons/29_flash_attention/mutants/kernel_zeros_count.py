"""Keys that do not exist have a score of 0, which counts."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("first + j < N ? score : -1e30f", "score"),
    )
)
