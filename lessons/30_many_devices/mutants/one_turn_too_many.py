"""As many turns as there are ranks."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("range(1, port.size)", "range(1, port.size + 1)"),
    )
)
