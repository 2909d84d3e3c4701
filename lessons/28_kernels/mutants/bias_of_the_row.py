"""The bias is that of the row, not that of the column."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("bias[i % D]", "bias[i / D % D]"),
    )
)
