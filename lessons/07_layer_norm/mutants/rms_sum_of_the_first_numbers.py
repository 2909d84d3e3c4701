"""rms_norm: what comes back to r is added up over the first numbers only."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("(g * x).sum(", "(g * x)[..., :first].sum("),
    )
)
