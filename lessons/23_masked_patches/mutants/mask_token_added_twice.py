"""Tokens in sight are added to the mask token, and do not take its place."""

from pathlib import Path

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py", ("seen] = y", "seen] += y")))
