"""The hidden patch itself is taken for one that could be in sight."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(Path(__file__).parents[1] / "solution.py", ("/ comb(patches - 1, seen)", "/ comb(patches, seen)"))
)
