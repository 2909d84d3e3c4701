"""The old average and the new weights have changed places."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("now * average + (1 - now) * weights", "(1 - now) * average + now * weights"),
    )
)
