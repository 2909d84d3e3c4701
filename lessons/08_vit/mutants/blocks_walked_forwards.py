"""The backward starts at the first block."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("for i in reversed(range(len(blocks))):", "for i in range(len(blocks)):"),
    )
)
