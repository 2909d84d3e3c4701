"""Two lanes add their sums, which are relative to two different logits."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("sum = sum * expf(largest - now) + their_sum * expf(theirs - now);", "sum += their_sum;"),
    )
)
