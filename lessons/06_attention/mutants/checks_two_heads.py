"""trust_multi_head tries two heads only."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(Path(__file__).parents[1] / "solution.py", ("((2, 5, 6, 3), (3, 2, 8, 2))", "((3, 2, 8, 2),)"))
)
