"""The position embedding never learns."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            '    dx, grads["position"] = ops.position_embedding_backward(dx, position)\n',
            '    grads["position"] = np.zeros_like(dx[0])\n',
        ),
    )
)
