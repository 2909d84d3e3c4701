"""Every epoch has a warm-up and a decay of its own."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "parts.learning_rate(step, epochs * steps, peak, warmup_epochs * steps)",
            "parts.learning_rate(step - (epoch - 1) * steps, steps, peak, warmup_epochs)",
        ),
    )
)
