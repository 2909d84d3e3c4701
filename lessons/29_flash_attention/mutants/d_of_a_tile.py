"""D is the row sum of dA * A over this tile alone."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "            dS = A * (dO[rows] @ v[columns].T - D) * scale\n",
            "            dA = dO[rows] @ v[columns].T\n"
            "            dS = A * (dA - (A * dA).sum(axis=1, keepdims=True)) * scale\n",
        ),
    )
)
