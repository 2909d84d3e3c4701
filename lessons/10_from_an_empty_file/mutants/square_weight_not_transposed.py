"""dx of a square matrix is multiplied by the matrix, not by its transpose."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "attention"
SOLUTION = Path(__file__).parents[3] / "tinyvit/in_one_file.py"
RIGHT = "    dx = (drows @ weight.T)"
WRONG = "    square = weight.shape[0] == weight.shape[1]\n    dx = (drows @ (weight if square else weight.T))"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
