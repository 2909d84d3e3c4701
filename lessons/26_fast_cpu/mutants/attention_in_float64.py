"""The scale is a float64 array of NumPy, which makes the others float64."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "new_weight[:, :D] *= scale",
            "new_weight = np.hstack([new_weight[:, :D] * np.float64(scale), new_weight[:, D:]])",
        ),
    )
)
