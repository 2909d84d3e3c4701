"""The gradient is passed on as it comes."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("return rotary_backward(dy, cache)[0]", "return dy.copy()"),
    )
)
