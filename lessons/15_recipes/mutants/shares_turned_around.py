"""The share is taken to be that of the image's own label."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "own + np.asarray(shares)[:, None] * (after - own)",
            "after + np.asarray(shares)[:, None] * (own - after)",
        ),
    )
)
