"""Biases, gains and positions decay too."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("(slice(params.decayed, None), 0.0)", "(slice(params.decayed, None), weight_decay)"),
    )
)
