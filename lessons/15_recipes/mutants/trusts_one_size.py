"""The check tries one size of matrix only."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("for size in (1e-3, 1.0, 1e3)", "for size in (1.0,)"),
    )
)
