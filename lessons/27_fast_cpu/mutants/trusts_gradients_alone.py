"""The values of the fold are never looked at."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("if not np.allclose(y, (n * gain + offset) @ weight + bias):", "if not np.isfinite(y).all():"),
    )
)
