"""Only the gradient of the first input is looked at."""

from pathlib import Path

from lessons.mutation import changed

SOLUTION = Path(__file__).parents[1] / "solution.py"
globals().update(
    changed(
        SOLUTION,
        (
            "for x, by_hand in zip(inputs, gradients, strict=True):\n        numerical",
            "for x, by_hand in zip(inputs[:1], gradients[:1], strict=True):\n        numerical",
        ),
    )
)
