"""The images that do not fill a batch are left out."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "        for start in range(0, count, batch_size):\n            step",
            "        for start in range(0, count - batch_size + 1, batch_size):\n            step",
        ),
    )
)
