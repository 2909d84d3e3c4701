"""The backward multiplies the cached unit vectors in place."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "    return (dy - y * (dy * y).sum(axis=-1, keepdims=True)) / length",
            "    along = (dy * y).sum(axis=-1, keepdims=True)\n    y *= along\n    return (dy - y) / length",
        ),
    )
)
