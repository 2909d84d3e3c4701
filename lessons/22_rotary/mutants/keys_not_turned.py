"""Only the queries of the learned scores turn."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py", ("turn_patches(k, angles)", "turn_patches(k, 0 * angles)")
    )
)
