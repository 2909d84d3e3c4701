"""The scores of relative attention (ViT appendix D.4; Shaw et al. 2018), forward and backward.

Each offset d between a query and a key, from -(N - 1) to N - 1, has a learned vector r_d, which is matched
with the query as if it were a key. With tokens numbered as they stand in the sequence, query i gives key j

    S_ij = q_i . r_(i-j)                                  i = 0 .. Q - 1, j = 0 .. N - 1   (1)

Forward. Writing out r_(i-j) for every pair would take an array (N, N, K). One product with all the vectors
needs only (Q, W), W = N + Q - 1, since no offset is larger than Q - 1. With the vectors in the order of their
keys, from offset Q - 1 (the key farthest to the left) to -(N - 1) (farthest to the right),

    G_im = q_i . r_(Q-1-m)                                m = 0 .. W - 1                   (2)
    S_ij = G_i(Q-1-i+j)                                                                    (3)

so row i of S is a part of row i of G, which starts one place further to the left than that of the row above.
Give G one more column, of zeros. Then its rows have W + 1 numbers, S_ij lies at place

    i (W + 1) + Q - 1 - i + j  =  (Q - 1) + i W + j                                        (4)

of the memory, and S is read from there without moving anything: skip Q - 1 numbers, cut the others into rows
of W, and take the first N of each.

Backward. dG is zero except at the places (4), which hold dS. (2) is a matrix product, so

    dq_i = sum over m of dG_im r_(Q-1-m)                                                   (5)
    dr_d = sum over images, heads and i of dG_i(Q-1-d) q_i                                 (6)

By (3), what (6) gives to offset d is the sum of dS_ij q_i along the diagonal i - j = d. An offset that occurs
in no pair, because there are fewer queries than keys, has the gradient 0.
"""

from tinyvit.backend import Array, array_module


def relative_scores(q: Array, table: Array) -> tuple[Array, tuple[Array, Array]]:
    """Scores (B, H, Q, N) of the first Q tokens, as queries q (B, H, Q, K), for all N; and the cache.

    table (2N - 1, K) is shared by the heads. Its row m is the vector of offset N - 1 - m.
    """
    B, H, Q, K = q.shape
    G = q.reshape(-1, K) @ _used(table, Q).T  # (B H Q, W + 1)                               eq. 2
    return _shifted(G.reshape(B, H, Q, -1)), (q, table)


def relative_scores_backward(dS: Array, cache: tuple[Array, Array]) -> tuple[Array, Array]:
    """Gradients of relative_scores: dq (B, H, Q, K), dtable (2N - 1, K)."""
    q, table = cache
    (B, H, Q, N), K, xp = dS.shape, q.shape[3], array_module(dS)
    dG = xp.zeros((B, H, Q, N + Q), dtype=dS.dtype)
    _shifted(dG)[...] = dS  # a view: this fills dG                                          eq. 4
    dG = dG.reshape(-1, N + Q)
    dq = dG @ _used(table, Q)  # (B H Q, K)                                                  eq. 5
    dtable = xp.zeros_like(table)
    dtable[N - Q :] = (dG.T @ q.reshape(-1, K))[:-1]  #                                      eq. 6
    return dq.reshape(q.shape), dtable


def _used(table: Array, Q: int) -> Array:
    """The vectors of the offsets that Q queries have, and one of zeros: (N + Q, K)."""
    N = (len(table) + 1) // 2
    used = array_module(table).zeros((N + Q, table.shape[1]), dtype=table.dtype)
    used[:-1] = table[N - Q :]
    return used


def _shifted(G: Array) -> Array:
    """S (B, H, Q, N) within G (B, H, Q, N + Q), as a view."""
    (B, H, Q), W = G.shape[:3], G.shape[3] - 1
    memory = G.reshape(B, H, Q * (W + 1))[..., Q - 1 : Q - 1 + Q * W]
    return memory.reshape(B, H, Q, W)[..., : W + 1 - Q]  #                                   eq. 4
