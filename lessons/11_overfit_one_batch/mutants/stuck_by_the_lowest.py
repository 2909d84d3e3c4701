"""A run is stuck only if no loss was ever lower."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("if losses[-1] > 0.9", "if min(losses) > 0.9"),
    )
)
