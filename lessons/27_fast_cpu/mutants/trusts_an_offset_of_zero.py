"""Every offset is 0."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("0.5, D), rng.normal(size=D)", "0.5, D), np.zeros(D)"),
    )
)
