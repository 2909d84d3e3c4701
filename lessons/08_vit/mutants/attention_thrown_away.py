"""The second branch is added to x instead of x'."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("    x = x + a  #", "    middle = x + a  #"),
        ("n, norm2 = ops.layer_norm(x, *", "n, norm2 = ops.layer_norm(middle, *"),
    )
)
