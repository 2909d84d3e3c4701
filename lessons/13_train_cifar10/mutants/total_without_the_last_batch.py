"""The smaller last batches are not counted, so that the schedule ends too early."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "parts.learning_rate(step, epochs * steps,",
            "parts.learning_rate(step, max(epochs * (count // batch_size), warmup_epochs * steps + 1),",
        ),
    )
)
