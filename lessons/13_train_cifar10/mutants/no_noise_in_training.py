"""Stochastic depth is never switched on."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("labels[chosen], grads, Noise(seed, step))", "labels[chosen], grads)"),
    )
)
