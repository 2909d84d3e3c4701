"""The values are kept in float64."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("dtype=h.dtype", "dtype=float"),
    )
)
