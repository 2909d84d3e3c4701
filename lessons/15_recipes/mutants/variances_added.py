"""What is added up is the mean of each list's squares, and should be their sum."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("((values - values.mean()) ** 2).sum() for", "np.var(values) for"),
    )
)
