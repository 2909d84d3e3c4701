"""The norm is an array of float64, so float32 becomes float64."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("max(float(np.linalg.norm(x)), 1e-7)", "np.array([max(float(np.linalg.norm(x)), 1e-7)])"),
    )
)
