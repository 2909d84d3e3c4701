"""The search for the largest logit begins at 0, above all logits if they are negative."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("float largest = -1e30f, sum = 0;", "float largest = 0, sum = 0;"),
    )
)
