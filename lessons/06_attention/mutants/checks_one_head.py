"""trust_multi_head tries a single head, in which nothing is cut or joined."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(Path(__file__).parents[1] / "solution.py", ("((2, 5, 6, 3), (3, 2, 8, 2))", "((2, 5, 6, 1),)"))
)
