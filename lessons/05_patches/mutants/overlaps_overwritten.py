"""Where patches overlap, the last one wins instead of all being added."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(Path(__file__).parents[1] / "solution.py", ("stride] += pieces", "stride] = pieces"))
)
