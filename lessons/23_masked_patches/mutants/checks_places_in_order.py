"""trust_put_back tries places in sight that stand in order."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(Path(__file__).parents[1] / "solution.py", ("[[4, 0, 3], [1, 5, 0]]", "[[0, 3, 4], [0, 1, 5]]"))
)
