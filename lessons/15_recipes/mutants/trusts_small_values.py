"""The singular values that the check tries are close together."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("np.geomspace(1, 0.01, rank)", "np.geomspace(1, 0.7, rank)"),
    )
)
