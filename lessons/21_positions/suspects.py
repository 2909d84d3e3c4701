"""Three backwards of the scores of relative attention. One of them is wrong for some q and table.

SUSPECTS gives for each name the forward, which is the same for all three, and the backward.
forward(q, table) returns (S, cache), and backward(dS, cache) returns dq and dtable. q is (B, H, Q, K), table
(2N - 1, K), and its row m is the vector of offset N - 1 - m.
"""

import numpy as np


def forward(q, table):
    Q, N = q.shape[2], (len(table) + 1) // 2
    offset = np.arange(Q)[:, None] - np.arange(N)  # (Q, N)
    return np.einsum("bhik,ijk->bhij", q, table[N - 1 - offset]), (q, table)


def pair_by_pair(dS, cache):
    q, table = cache
    Q, N = dS.shape[2:]
    dq, dtable = np.zeros_like(q), np.zeros_like(table)
    for i, j in np.ndindex(Q, N):
        row = N - 1 - (i - j)
        dq[:, :, i] += dS[:, :, i, j, None] * table[row]
        dtable[row] += np.einsum("bh,bhk->k", dS[:, :, i, j], q[:, :, i])
    return dq, dtable


def diagonal_by_diagonal(dS, cache):
    q, table = cache
    Q, N = dS.shape[2:]
    dq, dtable = np.zeros_like(q), np.zeros_like(table)
    for row, offset in enumerate(range(Q - 1, -N, -1)):
        i = np.arange(max(offset, 0), min(Q, N + offset))  # the queries that have a key at this offset
        dtable[row] = np.einsum("bhi,bhik->k", dS[:, :, i, i - offset], q[:, :, i])
        dq[:, :, i] += dS[:, :, i, i - offset, None] * table[N - 1 - offset]
    return dq, dtable


def query_by_query(dS, cache):
    q, table = cache
    Q, N = dS.shape[2:]
    dq, dtable = np.empty_like(q), np.zeros_like(table)
    for i in range(Q):
        seen = slice(N - 1 - i, 2 * N - 1 - i)  # the rows of the table that query i meets, in the keys' order
        dq[:, :, i] = dS[:, :, i] @ table[seen]
        dtable[seen] += np.einsum("bhj,bhk->jk", dS[:, :, i], q[:, :, i])
    return dq, dtable


SUSPECTS = {
    "pair by pair": (forward, pair_by_pair),
    "diagonal by diagonal": (forward, diagonal_by_diagonal),
    "query by query": (forward, query_by_query),
}
