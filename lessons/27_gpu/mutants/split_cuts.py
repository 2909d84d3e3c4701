"""The shadow is w with its last 16 bits cut off: not the nearest."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("(pattern + np.uint32(0x8000)) >> np.uint32(16)", "pattern >> np.uint32(16)"),
    )
)
