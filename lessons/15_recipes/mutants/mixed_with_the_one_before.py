"""Each image is mixed with the one before it."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("np.roll(own, -1, axis=0)", "np.roll(own, 1, axis=0)"),
    )
)
