"""The gradient is not clipped."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("parts.clip_norm(grads.flat, 1.0)", "(grads.flat, None)"),
    )
)
