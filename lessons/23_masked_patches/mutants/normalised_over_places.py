"""The targets are normalised over the places of a picture, not over the pixels of a patch."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "(centred * centred).mean(axis=2, keepdims=True)",
            "(centred * centred).mean(axis=1, keepdims=True)",
        ),
    )
)
