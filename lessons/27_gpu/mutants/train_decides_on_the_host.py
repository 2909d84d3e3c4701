"""Whether to clip is decided by an if, which waits."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "g *= toy.minimum(1.0, largest / toy.sqrt((g * g).sum()))",
            "norm = toy.sqrt((g * g).sum())\n        if norm > largest:\n            g *= largest / norm",
        ),
    )
)
