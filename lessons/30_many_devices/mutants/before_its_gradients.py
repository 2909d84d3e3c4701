"""A bucket begins as soon as the network is free, whether its gradients are there or not."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("begin = max(clock, free)", "begin = free"),
    )
)
