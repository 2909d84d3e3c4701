"""Every result is written to memory, wanted or not."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("made & wanted)", "made)"),
    )
)
