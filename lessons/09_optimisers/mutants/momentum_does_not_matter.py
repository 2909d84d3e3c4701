"""The largest rate is taken to be that of SGD without momentum."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("return 2 * (1 + momentum) / steepness", "return 2 / steepness"),
    )
)
