"""A mean that is infinite does not end the training."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("math.isfinite(means[-1])", "not math.isnan(means[-1])"),
    )
)
