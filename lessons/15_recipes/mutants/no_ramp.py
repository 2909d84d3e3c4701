"""The decay is that of a long run from the first step on."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("min(decay, (1 + step) / (10 + step))", "decay"),
    )
)
