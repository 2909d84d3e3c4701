"""dx of a square matrix is multiplied by the matrix, not by its transpose."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "attention"
SOLUTION = Path(__file__).parents[1] / "solution.py"
globals().update(
    changed(
        SOLUTION,
        (
            "return dy @ weight.T, rows",
            "turned = weight if weight.shape[0] == weight.shape[1] else weight.T\n    return dy @ turned, rows",
        ),
    )
)
