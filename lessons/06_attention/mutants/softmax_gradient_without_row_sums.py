"""The softmax is taken for an elementwise function with slope A (1 - A)."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("dS = softmax_backward(dA, softmax_cache)", "dS = A * (1 - A) * dA"),
    )
)
