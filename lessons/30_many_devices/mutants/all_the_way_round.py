"""As many turns as there are ranks: the last brings back the rank's own part."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("range(port.size - 1)", "range(port.size)"),
    )
)
