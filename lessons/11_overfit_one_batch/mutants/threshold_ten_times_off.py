"""A first loss may be 10 % away."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("0.01 * guess", "0.1 * guess"),
    )
)
