"""The label of whichever image has the larger share is taken."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("np.asarray(shares)[:, None]", "(np.asarray(shares)[:, None] > 0.5)"),
    )
)
