"""The gradients of both tables are averaged over the patches that share a row."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("patches.sum(axis=(0, 2))", "patches.sum(axis=0).mean(axis=1)"),
        ("patches.sum(axis=(0, 1))", "patches.sum(axis=0).mean(axis=0)"),
    )
)
