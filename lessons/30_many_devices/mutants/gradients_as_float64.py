"""The part of the gradients is made float64 on the way."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("update(w[own], g[own])", "update(w[own], g[own].astype(float))"),
    )
)
