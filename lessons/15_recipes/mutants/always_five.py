"""Five steps, whatever was asked for."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("range(steps)", "range(5)"),
    )
)
