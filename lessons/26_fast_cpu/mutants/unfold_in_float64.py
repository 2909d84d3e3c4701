"""The gain's gradient is added up in float64."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("(weight * dfolded_weight).sum(axis=1)", "(weight * dfolded_weight).sum(axis=1, dtype=float)"),
    )
)
