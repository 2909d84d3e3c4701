"""The slope is the gate alone: h counts as a factor only."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("        h_ *= square\n        h_ += s  # eq. 8", "        h_[...] = s"),
    )
)
