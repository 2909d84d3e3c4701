"""trust_layer_norm trusts whatever is off by less than a tenth."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("max(errors) < 1e-6", "max(errors) < 0.1"),
    )
)
