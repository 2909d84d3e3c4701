"""unbroadcast divides by the number of copies: a mean where a sum is asked for."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("dy.sum(", "dy.mean("),
    )
)
