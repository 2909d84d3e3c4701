"""The product x x^T is that of the matrix before the first step."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "    for _ in range(steps):\n        gram = x @ x.T\n",
            "    gram = x @ x.T\n    for _ in range(steps):\n",
        ),
    )
)
