"""Only the diagonal counts as right: a text that is the same is called wrong."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("S = cosines + bias", "same = np.eye(B, dtype=bool)\n    S = cosines + bias"),
    )
)
