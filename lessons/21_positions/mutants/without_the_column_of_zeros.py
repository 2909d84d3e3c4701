"""There is no column of zeros, and rows are cut one number shorter: right for all but a single query."""

from pathlib import Path

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))


def relative_scores(q, table):
    (B, H, Q, _), N = q.shape, (len(table) + 1) // 2
    W = N + Q - 1
    memory = (q @ table[N - Q :].T).reshape(B, H, Q * W)[..., Q - 1 : Q - 1 + Q * (W - 1)]
    return memory.reshape(B, H, Q, W - 1)[..., :N].copy(), (q, table)
