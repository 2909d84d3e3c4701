"""A multiply-add is taken for one FLOP."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("2 * each.multiply_adds", "each.multiply_adds"),
    )
)
