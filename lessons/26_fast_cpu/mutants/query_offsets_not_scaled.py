"""The offsets of the queries are not scaled."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("qkv_bias[:D] * scale", "qkv_bias[:D]"),
    )
)
