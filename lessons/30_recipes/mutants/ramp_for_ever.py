"""The larger of the two decays is taken."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("now = min(decay,", "now = max(decay,"),
    )
)
