"""A result is written only if the very next kernel reads it, or if it is kept."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("wanted = (wanted - made) | read", "wanted = set(kept) | read"),
    )
)
