"""The loss is the mean over all patches, those in sight included."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("error.size - seen.size * error[0, 0].size", "error.size; error = painted - wanted"),
    )
)
