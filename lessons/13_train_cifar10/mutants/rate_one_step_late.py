"""Steps are counted from 0, for the rate alone."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("parts.learning_rate(step, epochs", "parts.learning_rate(step - 1, epochs"),
    )
)
