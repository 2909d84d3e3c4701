"""No LayerNorm after the last block."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            '    x, norm = ops.layer_norm(x, params["norm.weight"], params["norm.bias"])\n',
            "    norm = None\n",
        ),
        (
            '    dx, grads["norm.weight"], grads["norm.bias"] = ops.layer_norm_backward(dx, norm)\n',
            '    grads["norm.weight"] = grads["norm.bias"] = 0 * dx[0, 0]\n',
        ),
    )
)
