"""The bandwidth is taken for one in bits."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("(network.latency + size /", "(network.latency + 8 * size /"),
    )
)
