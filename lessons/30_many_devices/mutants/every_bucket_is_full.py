"""A bucket takes as long as if it held `limit` bytes, at most those of the layer that filled it."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "_ring_seconds(held, ranks, network)\n            times",
            "_ring_seconds(min(held, limit), ranks, network)\n            times",
        ),
    )
)
