"""The bits that do not fit are cut off."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("pattern + (half - np.uint32(1) + last)", "pattern"),
    )
)
