"""The gradient is not divided by the number of images."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("cross_entropy_backward(cache)", "cross_entropy_backward(cache) * len(logits)"),
    )
)
