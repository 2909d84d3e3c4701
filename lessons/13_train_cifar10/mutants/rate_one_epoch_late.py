"""The learning rate is that of one epoch before."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("parts.learning_rate(step, epochs", "parts.learning_rate(max(1, step - steps), epochs"),
    )
)
