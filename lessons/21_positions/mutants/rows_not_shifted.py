"""Every query reads the offsets of the first one."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def relative_scores(q, table):
    N = (len(table) + 1) // 2
    return q @ table[N - 1 :].T, (q, table)


def relative_scores_backward(dS, cache):
    q, table = cache
    N, dtable = dS.shape[-1], np.zeros_like(table)
    dtable[N - 1 :] = np.einsum("bhij,bhik->jk", dS, q)
    return dS @ table[N - 1 :], dtable
