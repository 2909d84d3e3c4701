"""The whole A is computed at once: the pieces are as large as the image."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("asking = slice(start, start + piece)", "asking = slice(0, None)"),
        ("range(0, q.shape[1], piece)", "range(1)"),
    )
)
