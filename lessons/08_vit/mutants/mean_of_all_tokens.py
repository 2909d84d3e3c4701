"""The head reads the mean of all tokens, not the class token."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("ops.linear(x[:, 0], params", "ops.linear(x.mean(axis=1), params"),
    )
)
