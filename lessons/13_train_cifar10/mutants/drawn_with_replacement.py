"""Each image of a batch is drawn from all images, so that some come twice and some never."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "order, loss_sum = rng.permutation(count), 0.0",
            "order, loss_sum = rng.integers(0, count, count), 0.0",
        ),
    )
)
