"""Only what later kernels read is written."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("wanted, moved = set(kept), 0", "wanted, moved = set(), 0"),
    )
)
