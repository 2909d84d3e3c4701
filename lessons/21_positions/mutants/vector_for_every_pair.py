"""The numbers are right, but a vector is written out for every pair of tokens."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def relative_scores(q, table):
    Q, N = q.shape[2], (len(table) + 1) // 2
    vectors = table[N - 1 - (np.arange(Q)[:, None] - np.arange(N))]  # (Q, N, K)
    return np.einsum("bhik,ijk->bhij", q, vectors), (q, table)
