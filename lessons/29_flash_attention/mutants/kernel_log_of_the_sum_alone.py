"""The largest score is not added to the log of the sum."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("largest + logf(total)", "logf(total)"),
    )
)
