"""The gradients of all steps so far are added up."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("            grads.flat[:] = 0\n", ""),
    )
)
