"""No gradient is checked."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("if not max(check_gradients(forward, backward, inputs, rng)) < TOLERANCE:", "if False:"),
    )
)
