"""Each tile of A is divided by its own sum, and not by that of the whole row."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "            A = np.exp(q[rows] @ k[columns].T * scale - log_sums[rows, None])  # (t, t)\n",
            "            S = q[rows] @ k[columns].T * scale\n"
            "            A = np.exp(S - S.max(axis=1, keepdims=True))\n"
            "            A /= A.sum(axis=1, keepdims=True)\n",
        ),
    )
)
