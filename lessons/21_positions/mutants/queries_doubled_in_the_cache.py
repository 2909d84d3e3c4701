"""The backward doubles the cached queries in place, so that it is right only once."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def relative_scores_backward(dS, cache):
    q, table = cache
    (_, _, Q, N), dtable = dS.shape, np.zeros_like(table)
    index = N - 1 - (np.arange(Q)[:, None] - np.arange(N))
    q *= 2
    np.add.at(dtable, index, np.einsum("bhij,bhik->ijk", dS, q) / 2)
    return np.einsum("bhij,ijk->bhik", dS, table[index]), dtable
