"""The loss of a piece, multiplied by its share already, is multiplied by it once more."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "return sum(loss for loss, _ in results), grads",
            "return sum(loss for loss, _ in results) / pieces, grads",
        ),
    )
)
