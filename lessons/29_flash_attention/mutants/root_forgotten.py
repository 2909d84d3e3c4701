"""The scores are not divided by the root of K."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("q[rows] * (1 / math.sqrt(K))", "q[rows]"),
    )
)
