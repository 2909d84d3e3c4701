"""D is left out: the row sum of dA * A is not subtracted."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("(dO[rows] @ v[columns].T - D)", "(dO[rows] @ v[columns].T)"),
    )
)
