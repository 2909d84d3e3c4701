"""The middle term is that of x itself."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("(-4.7750 * gram + 2.0315 * (gram @ gram)) @ x", "-4.7750 * x + 2.0315 * (gram @ gram) @ x"),
    )
)
