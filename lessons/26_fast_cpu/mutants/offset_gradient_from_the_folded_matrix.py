"""The gradient of the offset is taken with W'."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("weight @ dfolded_bias", "(gain[:, None] * weight) @ dfolded_bias"),
    )
)
