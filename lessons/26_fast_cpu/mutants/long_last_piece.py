"""All pieces have B // pieces images, and the last one has the rest."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("[B * i // pieces for i in range(pieces + 1)]", "[B // pieces * i for i in range(pieces)] + [B]"),
    )
)
