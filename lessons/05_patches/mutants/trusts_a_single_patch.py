"""trust_class_token looks at images of a single patch."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("rng.normal(size=(3, 4, 5))", "rng.normal(size=(3, 1, 5))"),
    )
)
