"""The training images are shown as they are."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("normalise(parts.augment(images[chosen], rng), params", "normalise(images[chosen], params"),
    )
)
