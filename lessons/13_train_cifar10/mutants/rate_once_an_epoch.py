"""The learning rate changes only from epoch to epoch."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("parts.learning_rate(step, epochs", "parts.learning_rate(1 + (epoch - 1) * steps, epochs"),
    )
)
