"""The learner's own check never shows a patch in two positions."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(Path(__file__).parents[1] / "solution.py", ("[1, 2, 0, MASKED, 2, 2]", "[1, 2, 0, MASKED, 5, 4]"))
)
