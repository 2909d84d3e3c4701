"""All of A is computed at the start, and cut into tiles."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "    dq, dk, dv = np.zeros_like(q)",
            "    whole = np.exp(q @ k.T * scale - log_sums[:, None])\n    dq, dk, dv = np.zeros_like(q)",
        ),
        ("A = np.exp(q[rows] @ k[columns].T * scale - log_sums[rows, None])", "A = whole[rows, columns]"),
    )
)
