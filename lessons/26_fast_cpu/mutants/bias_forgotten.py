"""The bias of the linear layer is forgotten."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("offset @ weight + bias  # eq. 3", "offset @ weight"),
    )
)
