"""dx of a square matrix is multiplied by the matrix, not by its transpose."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "attention"
SOLUTION = Path(__file__).parents[1] / "solution.py"
RIGHT = "return dy @ weight.T, rows"
WRONG = "square = weight.shape[0] == weight.shape[1]\n    return dy @ (weight if square else weight.T), rows"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
