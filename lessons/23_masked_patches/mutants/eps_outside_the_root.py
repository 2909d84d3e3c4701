"""eps is added to the deviation, and not to the variance."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "np.sqrt((centred * centred).mean(axis=2, keepdims=True) + eps)",
            "(np.sqrt((centred * centred).mean(axis=2, keepdims=True)) + eps)",
        ),
    )
)
