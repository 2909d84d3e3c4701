"""A number too few is skipped, so that every key gets the score of its left neighbour."""

from pathlib import Path

import numpy as np

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def relative_scores(q, table):
    Q, N = q.shape[2], (len(table) + 1) // 2
    G = np.pad(q @ table[N - Q :].T, [(0, 0)] * 3 + [(1, 0)])
    memory = G.reshape(*q.shape[:2], -1)[..., Q - 1 : Q - 1 + Q * (N + Q - 1)]
    return memory.reshape(*q.shape[:3], -1)[..., :N].copy(), (q, table)
