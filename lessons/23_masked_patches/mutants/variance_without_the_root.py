"""The targets are divided by the variance, and not by its root."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "np.sqrt((centred * centred).mean(axis=2, keepdims=True) + eps)",
            "((centred * centred).mean(axis=2, keepdims=True) + eps)",
        ),
    )
)
