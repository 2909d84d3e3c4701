"""Each lane takes one column, and columns from 32 on are forgotten."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "for (int column = lane; column < D; column += 32)\n        sum += x[row * D + column];",
            "if (lane < D) sum += x[row * D + lane];",
        ),
    )
)
