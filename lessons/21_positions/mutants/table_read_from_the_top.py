"""The rows in use begin at the top of the table, also where there are fewer queries than tokens."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def relative_scores(q, table):
    Q, N = q.shape[2], (len(table) + 1) // 2
    index = Q - 1 - (np.arange(Q)[:, None] - np.arange(N))
    return np.einsum("bhik,ijk->bhij", q, table[index]), (q, table, index)


def relative_scores_backward(dS, cache):
    q, table, index = cache
    dtable = np.zeros_like(table)
    np.add.at(dtable, index, np.einsum("bhij,bhik->ijk", dS, q))
    return np.einsum("bhij,ijk->bhik", dS, table[index]), dtable
