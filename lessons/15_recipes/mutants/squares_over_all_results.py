"""The squares are divided by the number of results."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "sum(len(values) - 1 for values in lists.values())",
            "sum(len(values) for values in lists.values())",
        ),
        ("if freedom == 0", "if freedom == len(lists)"),
    )
)
