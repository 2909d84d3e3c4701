"""The squares of the hidden patches are divided by how many numbers all patches have."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py", ("error.size - seen.size * error[0, 0].size", "error.size")
    )
)
