"""All steps of an epoch have the same noise."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("grads, Noise(seed, step))", "grads, Noise(seed, epoch))"),
    )
)
