"""The gradient of an offset is the mean along its diagonal instead of the sum."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def relative_scores_backward(dS, cache):
    q, table = cache
    (_, _, Q, N), dtable = dS.shape, np.zeros_like(table)
    index = N - 1 - (np.arange(Q)[:, None] - np.arange(N))
    np.add.at(dtable, index, np.einsum("bhij,bhik->ijk", dS, q))
    pairs = np.bincount(index.reshape(-1), minlength=len(table)).clip(1)
    return np.einsum("bhij,ijk->bhik", dS, table[index]), dtable / pairs[:, None].astype(table.dtype)
