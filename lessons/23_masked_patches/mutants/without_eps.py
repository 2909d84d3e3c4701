"""Nothing is added to the variance, and a patch of one colour is divided by zero."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (".mean(axis=2, keepdims=True) + eps)", ".mean(axis=2, keepdims=True))"),
    )
)
