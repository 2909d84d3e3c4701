"""The scores are divided by K, not by its root."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "attention"
SOLUTION = Path(__file__).parents[3] / "tinyvit/in_one_file.py"
RIGHT = "/ math.sqrt(D // heads)"
WRONG = "/ (D // heads)"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
