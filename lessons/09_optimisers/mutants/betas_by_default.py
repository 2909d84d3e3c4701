"""The betas are 0.9 and 0.999, whatever the caller says."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("    b1, b2 = betas\n", "    b1, b2 = 0.9, 0.999\n"),
    )
)
