"""trust_layer_norm looks at the first of the three errors only."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("max(errors)", "errors[0]"),
    )
)
