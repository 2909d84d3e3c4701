"""The row of the query is taken off that of the key, and should be the other way round."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("r[:, None] - r + gh", "r - r[:, None] + gh"),
    )
)
