"""Zeros are divided by zero."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("max(float(np.linalg.norm(x)), 1e-7)", "float(np.linalg.norm(x))"),
    )
)
