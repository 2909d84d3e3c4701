"""trust_class_token tries a single image, which hides what happens to the others."""

from pathlib import Path

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py", ("(3, 4, 5)", "(1, 4, 5)")))
