"""The squares are about the mean of all results."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("((values - values.mean()) ** 2)", "((values - np.concatenate(list(lists.values())).mean()) ** 2)"),
    )
)
