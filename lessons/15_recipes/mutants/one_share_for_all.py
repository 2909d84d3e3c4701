"""The whole batch has the share of its first image."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("np.asarray(shares)[:, None]", "np.asarray(shares)[0]"),
    )
)
