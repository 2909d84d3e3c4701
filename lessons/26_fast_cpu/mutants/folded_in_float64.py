"""The folded matrix is made with an array of float64."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("gain[:, None] * weight, offset", "np.eye(len(gain)) * gain @ weight, offset"),
    )
)
