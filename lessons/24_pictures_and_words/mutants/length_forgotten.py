"""The gradient of the unit vectors is not divided by the length."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (" / length  # eq. 2", "  # eq. 2"),
        (
            "return (dy - y * (dy * y).sum(axis=-1, keepdims=True))",
            "return dy - y * (dy * y).sum(axis=-1, keepdims=True)",
        ),
    )
)
