"""The row is read again in every pass."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "        values[i] -= centre;\n        if",
            "        values[i] = (lane + 32 * i < D ? x[row * D + lane + 32 * i] : 0) - centre;\n        if",
        ),
        (
            "y[row * D + column] = values[i] * scale",
            "y[row * D + column] = (x[row * D + column] - centre) * scale",
        ),
    )
)
