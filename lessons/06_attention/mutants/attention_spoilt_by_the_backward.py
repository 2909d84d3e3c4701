"""The cached attention is scaled in place by the backward."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "dS = softmax_backward(dA, softmax_cache)",
            "dS = A\n    dS *= dA - (dA * A).sum(axis=-1, keepdims=True)",
        ),
    )
)
