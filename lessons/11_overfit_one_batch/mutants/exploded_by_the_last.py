"""Only the last loss is asked whether the run exploded."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("if max(losses) > 1.5", "if losses[-1] > 1.5"),
    )
)
