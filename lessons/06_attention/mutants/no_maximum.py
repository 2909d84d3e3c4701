"""The softmax is written out without subtracting the largest score: exp overflows."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "A, softmax_cache = softmax(q @ k.swapaxes(-1, -2))",
            "A = np.exp(q @ k.swapaxes(-1, -2))\n    softmax_cache = A = A / A.sum(-1, keepdims=True)",
        ),
    )
)
