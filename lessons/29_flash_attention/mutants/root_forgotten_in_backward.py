"""The gradients of the queries and keys are not divided by the root of K."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("- D) * scale", "- D)"),
    )
)
