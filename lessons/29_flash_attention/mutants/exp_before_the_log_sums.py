"""A is exp(score) divided by exp(log_sum), and both are infinite for large scores."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "np.exp(q[rows] @ k[columns].T * scale - log_sums[rows, None])",
            "np.exp(q[rows] @ k[columns].T * scale) / np.exp(log_sums[rows, None])",
        ),
    )
)
