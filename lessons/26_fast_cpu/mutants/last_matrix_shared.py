"""The last matrix is returned as it was given."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("out_weight.copy()", "out_weight"),
    )
)
