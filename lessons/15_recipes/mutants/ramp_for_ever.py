"""The decay goes on rising beyond the one that was asked for; the smaller of the two is wanted."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("now = min(decay,", "now = max(decay,"),
    )
)
