"""What is kept is the model itself, which goes on changing."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("best = params.astype(params.flat.dtype)  # a copy", "best = params"),
    )
)
