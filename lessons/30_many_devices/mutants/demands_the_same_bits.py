"""It asks for the very bits of the whole batch."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("rtol=0, atol=1e-9", "rtol=0, atol=0"),
    )
)
