"""A gradient that is short enough comes back as the caller's own array."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("else g.copy()), norm", "else g), norm"),
    )
)
