"""The slope is taken where the value has been put already."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("square *= 6 * CUBIC", "np.multiply(g_, g_, out=square)\n        square *= 6 * CUBIC"),
    )
)
