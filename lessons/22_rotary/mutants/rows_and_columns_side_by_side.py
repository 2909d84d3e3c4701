"""Rows and columns alternate from angle to angle."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("np.concatenate([r * f, c * f], axis=1)", "np.stack([r * f, c * f], axis=2).reshape(len(r), -1)"),
    )
)
