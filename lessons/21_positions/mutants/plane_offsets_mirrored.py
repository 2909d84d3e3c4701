"""The offset is that of the key minus that of the query."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("r[:, None] - r + gh", "r - r[:, None] + gh"),
        ("c[:, None] - c + gw", "c - c[:, None] + gw"),
    )
)
