"""The gradient of W' is taken for that of the weight."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("gain[:, None] * dfolded_weight", "dfolded_weight"),
    )
)
