"""Only gains are found, no losses."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("abs(values.mean() - mine.mean())", "(values.mean() - mine.mean())"),
    )
)
