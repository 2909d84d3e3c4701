"""The scores are divided by the root of D, not of K."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("math.sqrt(heads / D)", "math.sqrt(1 / D)"),
    )
)
