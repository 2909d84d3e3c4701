"""dtable[index] += adds only the last of all pairs at one offset."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def relative_scores_backward(dS, cache):
    q, table = cache
    (_, _, Q, N), dtable = dS.shape, np.zeros_like(table)
    index = N - 1 - (np.arange(Q)[:, None] - np.arange(N))
    dtable[index] += np.einsum("bhij,bhik->ijk", dS, q)
    return np.einsum("bhij,ijk->bhik", dS, table[index]), dtable
