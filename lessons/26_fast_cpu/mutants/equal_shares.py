"""Each piece has the share 1/pieces, though some have an image more."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("(part.stop - part.start) / B", "1 / pieces"),
    )
)
