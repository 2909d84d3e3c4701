"""The mean of the parts is taken, whatever their sums are."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "o = sum(np.exp(each - log_sums)[:, None] * part for part, each in parts)",
            "o = sum(part for part, _ in parts) / len(parts)",
        ),
    )
)
