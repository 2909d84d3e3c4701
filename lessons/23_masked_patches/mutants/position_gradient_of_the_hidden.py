"""A position gets no gradient from the pictures in which its place is in sight."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py", ("dz.sum(axis=0)", "(dz * hidden[:, :, None]).sum(axis=0)")
    )
)
