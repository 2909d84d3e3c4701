"""The max-pool behind the root is left out."""

from pathlib import Path

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py", ("((7, 2), (3, 2))", "((7, 2),)")))
