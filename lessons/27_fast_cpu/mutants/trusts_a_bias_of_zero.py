"""The bias is 0."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("rng.normal(size=(D, O)), rng.normal(size=O)", "rng.normal(size=(D, O)), np.zeros(O)"),
    )
)
