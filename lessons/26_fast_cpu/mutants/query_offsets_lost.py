"""The offsets of the queries are dropped with those of the keys."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("    new_bias[:D] = qkv_bias[:D] * scale\n", ""),
    )
)
