"""In the learner's own check the places in sight stand in order."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(Path(__file__).parents[1] / "solution.py", ("[[4, 0, 3], [1, 5, 0]]", "[[0, 3, 4], [0, 1, 5]]"))
)
