"""The angles are forgotten, and every token stays as it is."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("np.cos(angles), np.sin(angles)", "np.cos(0 * angles), np.sin(0 * angles)"),
    )
)
