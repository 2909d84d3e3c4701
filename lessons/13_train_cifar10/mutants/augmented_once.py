"""All images are augmented before the first epoch, and stay like that."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "    step, best, records = 0, None, []\n",
            "    images = parts.augment(images, rng)\n    step, best, records = 0, None, []\n",
        ),
        ("normalise(parts.augment(images[chosen], rng), params", "normalise(images[chosen], params"),
    )
)
