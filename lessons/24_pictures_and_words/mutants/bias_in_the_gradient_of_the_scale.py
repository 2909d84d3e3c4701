"""The gradient of log_scale takes in the bias, which the scale does not multiply."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("(dS * cosines).sum()", "(dS * S).sum()"),
    )
)
