"""The number of heads is 2, whatever was asked for."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("    n, norm1 = ops.layer_norm(x, *", "    heads = 2\n    n, norm1 = ops.layer_norm(x, *"),
    )
)
