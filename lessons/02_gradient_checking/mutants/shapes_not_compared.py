"""Broadcasting makes up for a gradient of another shape."""

from pathlib import Path

from lessons.mutation import changed

SOLUTION = Path(__file__).parents[1] / "solution.py"
globals().update(
    changed(
        SOLUTION,
        (
            "if [g.shape for g in gradients] != [x.shape for x in inputs]:",
            "if len(gradients) != len(inputs):",
        ),
    )
)
