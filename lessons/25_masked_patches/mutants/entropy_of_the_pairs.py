"""The entropy of what is told and the colour together."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py", ("together / told[pairs[0]]", "together / len(colours)")
    )
)
