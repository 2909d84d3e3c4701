"""The number `most` itself is not tried."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("range(1, most + 1)", "range(1, max(most, 2))"),
    )
)
