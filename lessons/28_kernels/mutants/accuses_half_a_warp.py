"""The wrong suspect."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ('"one_block"', '"half_a_warp"'),
    )
)
