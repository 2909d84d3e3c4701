"""Every message has all the bytes."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("size / (ranks * network.bandwidth)", "size / network.bandwidth"),
    )
)
