"""Every gain is 1."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("rng.normal(1, 0.5, D), rng", "np.ones(D), rng"),
    )
)
