"""zip stops at the shorter: a gradient that is missing is never looked at."""

from pathlib import Path

from lessons.mutation import changed

SOLUTION = Path(__file__).parents[1] / "solution.py"
globals().update(
    changed(
        SOLUTION,
        (
            "if [g.shape for g in gradients] != [x.shape for x in inputs]:",
            "if any(g.shape != x.shape for g, x in zip(gradients, inputs, strict=False)):",
        ),
        (
            "for x, by_hand in zip(inputs, gradients, strict=True):\n        numerical",
            "for x, by_hand in zip(inputs, gradients, strict=False):\n        numerical",
        ),
    )
)
