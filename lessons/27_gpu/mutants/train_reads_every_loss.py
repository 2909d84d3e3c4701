"""The loss of each step is read at once."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("unread.append(loss)", "unread.append(float(loss))"),
    )
)
