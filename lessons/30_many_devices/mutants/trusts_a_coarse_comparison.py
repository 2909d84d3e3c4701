"""The tolerance is a thousandth."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("atol=1e-9", "atol=1e-3"),
    )
)
