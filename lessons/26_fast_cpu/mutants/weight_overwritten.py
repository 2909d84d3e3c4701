"""The folded matrix is written over the weight."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "return gain[:, None] * weight, offset @ weight + bias  # eq. 3",
            "b = offset @ weight + bias\n    weight *= gain[:, None]\n    return weight, b",
        ),
    )
)
