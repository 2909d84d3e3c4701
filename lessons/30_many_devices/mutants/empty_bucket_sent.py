"""If nothing is left at the end, a bucket of nothing is sent."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("if held and (held >= limit or number == 0):", "if held >= limit or number == 0:"),
    )
)
