"""The gradient of the logits goes to every token, though row 0 alone was read."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            '    dx[:, 0], grads["head.weight"], grads["head.bias"] = ops.linear_backward(dlogits, head)\n',
            '    first, grads["head.weight"], grads["head.bias"] = ops.linear_backward(dlogits, head)\n    dx[...] = first[:, None]\n',
        ),
    )
)
