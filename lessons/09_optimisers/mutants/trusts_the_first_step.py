"""The check looks at the first step only."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("in ((1, 3.0), (2, -0.5)):", "in ((1, 3.0),):"),
    )
)
