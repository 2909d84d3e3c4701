"""All the messages together have one latency."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "2 * (ranks - 1) * (network.latency + size / (ranks * network.bandwidth))",
            "network.latency * (ranks > 1) + 2 * (ranks - 1) * size / (ranks * network.bandwidth)",
        ),
    )
)
