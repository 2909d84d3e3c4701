"""Stochastic depth stays switched on in evaluation."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "normalise(images[part], model.params.flat.dtype))",
            "normalise(images[part], model.params.flat.dtype), Noise(0, start))",
        ),
    )
)
