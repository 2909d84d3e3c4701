"""Arithmetic waits until all bytes are there: the two times are added."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "max(arithmetic, each.bytes_moved / card.bytes_a_second)",
            "arithmetic + each.bytes_moved / card.bytes_a_second",
        ),
    )
)
