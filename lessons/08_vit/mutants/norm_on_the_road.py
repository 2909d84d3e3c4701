"""The branch is added to the normalised tokens instead of the stream; the backward follows suit."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "    x = x + a  #",
            "    x = n + a  #",
        ),
        (
            "    branch, *dnorm1 = ops.layer_norm_backward(dn, norm1)\n    return dmiddle + branch,",
            "    dx, *dnorm1 = ops.layer_norm_backward(dn + dmiddle, norm1)\n    return dx,",
        ),
    )
)
