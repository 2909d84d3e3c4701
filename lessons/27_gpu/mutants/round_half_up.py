"""A tie is always rounded away from zero."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("half - np.uint32(1) + last", "half"),
    )
)
