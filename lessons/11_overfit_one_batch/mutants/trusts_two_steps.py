"""The check looks at two steps."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("len(got) == 12", "len(got) == 2"),
        ("range(1, 13)", "range(1, 3)"),
        ("labels, 12, 0.02)", "labels, 2, 0.02)"),
    )
)
