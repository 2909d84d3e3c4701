"""Only a first loss that is too high is a wrong start."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("if abs(losses[0] - guess) >", "if losses[0] - guess >"),
    )
)
