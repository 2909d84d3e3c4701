"""A NaN is rounded like a number: some become infinity, others zero."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("np.where(np.isnan(x), x, rounded.view(np.float32))", "rounded.view(np.float32)"),
    )
)
