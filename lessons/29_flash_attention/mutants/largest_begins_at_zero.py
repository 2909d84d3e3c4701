"""The largest begins at 0, above all scores if they are negative."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("np.full_like(total, -np.inf)", "np.zeros_like(total)"),
    )
)
