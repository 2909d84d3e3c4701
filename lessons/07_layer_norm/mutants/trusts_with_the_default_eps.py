"""trust_layer_norm never gives an eps."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("forward(*inputs, eps=0.5)", "forward(*inputs)"),
    )
)
