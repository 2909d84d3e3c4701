"""The loss of the sigmoids asks about the right pairs alone."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("np.where(same, -S, S)).sum()", "-S)[same].sum()"),
        ("((1 + np.tanh(S / 2)) / 2 - same) / B", "same * ((1 + np.tanh(S / 2)) / 2 - 1) / B"),
    )
)
