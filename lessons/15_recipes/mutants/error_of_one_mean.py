"""The base is taken to be known exactly."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("math.sqrt(1 / len(values) + 1 / len(mine))", "math.sqrt(1 / len(values))"),
    )
)
