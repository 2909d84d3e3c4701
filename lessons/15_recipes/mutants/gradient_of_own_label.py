"""The loss is that of the mix, its gradient that of the image's own label."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "return loss, cross_entropy_backward(cache)",
            "return loss, cross_entropy_backward((cache[0], own))",
        ),
    )
)
