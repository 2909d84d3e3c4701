"""The third path takes one mean over all rows."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("-r * n * (g * n).mean(axis=-1, keepdims=True)", "-r * n * (g * n).mean()"),
    )
)
