"""Every block is given the parameters of block 0."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ('params[f"blocks.{i}.{name}"] for', 'params[f"blocks.0.{name}"] for'),
    )
)
