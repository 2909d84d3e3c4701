"""A result is written although another takes its place before anybody reads it."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("wanted = (wanted - made) | read", "wanted = wanted | read"),
    )
)
