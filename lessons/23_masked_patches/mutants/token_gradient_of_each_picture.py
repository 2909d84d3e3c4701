"""The gradient of the mask token keeps the axis of pictures."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("dz[hidden].sum(axis=0)", "(dz * hidden[:, :, None]).sum(axis=1)"),
    )
)
