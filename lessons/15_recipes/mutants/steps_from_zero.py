"""The step is counted from 0."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("(1 + step) / (10 + step)", "step / (9 + step)"),
    )
)
