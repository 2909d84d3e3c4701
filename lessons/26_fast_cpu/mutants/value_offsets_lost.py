"""The offsets of the values are dropped with those of the keys."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("qkv_bias[2 * D :] @ out_weight + out_bias", "out_bias.copy()"),
    )
)
