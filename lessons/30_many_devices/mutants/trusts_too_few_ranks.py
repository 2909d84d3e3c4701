"""It does not count the ranks."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("if len(found) != ranks or not", "if not"),
    )
)
