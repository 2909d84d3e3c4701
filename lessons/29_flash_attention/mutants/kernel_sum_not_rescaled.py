"""The sum so far is not made smaller when a larger score comes."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("        total *= shrink;\n", ""),
    )
)
