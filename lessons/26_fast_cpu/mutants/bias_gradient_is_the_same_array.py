"""The gradient of the bias is the array that was given."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("dfolded_bias.copy()", "dfolded_bias"),
    )
)
