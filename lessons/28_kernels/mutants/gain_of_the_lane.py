"""Gain and offset are those of the lane, not of the column."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("weight[column] + bias[column]", "weight[lane % D] + bias[lane % D]"),
    )
)
