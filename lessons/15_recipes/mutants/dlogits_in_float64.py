"""The gradient is that of the logits in float64."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("cross_entropy(logits, targets)", "cross_entropy(logits.astype(float), targets)"),
    )
)
