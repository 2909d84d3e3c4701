"""The offsets of the values are added without going through the last matrix."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("qkv_bias[2 * D :] @ out_weight + out_bias", "qkv_bias[2 * D :] + out_bias"),
    )
)
