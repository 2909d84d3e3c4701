"""The right suspect is named, with inputs on which everybody is right."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "rng.normal(size=(2, 3, 4)), rng.normal(size=(4, 4)), rng",
            "rng.normal(size=(2, 3, 4)), np.zeros((4, 4)), rng",
        ),
    )
)
