"""The gradient of the texts' choice is added without transposing it back."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("cross_entropy_backward(columns).T", "cross_entropy_backward(columns)"),
    )
)
