"""The targets are the pixels as they are."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py", ("error = painted - wanted", "error = painted - patches")
    )
)
