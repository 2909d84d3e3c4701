"""The offset is multiplied by the gain before it goes through the matrix."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("offset @ weight + bias  # eq. 3", "(gain * offset) @ weight + bias"),
    )
)
