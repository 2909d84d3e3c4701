"""The shadow is rounded to nearest even: of some ties, nothing tells which they were."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "(pattern + np.uint32(0x8000)) >> np.uint32(16)",
            "(pattern + np.uint32(0x7FFF) + ((pattern >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)",
        ),
    )
)
