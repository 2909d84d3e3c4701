"""Attention in the last block of a class-token model, where only the class token asks; see ops.attention.

The head reads no other token, so the keys and values of the last block are needed for one query of each head,
never by themselves. With tokens n_j, a query q (K), and the head's columns Wk and Wv (D, K) of the matrix,

    scores    q . (n_j Wk)        =  (Wk q) . n_j         =  u . n_j                                      (1)
    output    sum_j A_j (n_j Wv)  =  (sum_j A_j n_j) Wv   =  z Wv                                         (2)

On the left, the matrices multiply every token. On the right, they multiply one vector of each head, and every
token meets only u and A. With H heads that is 2 H D multiply-adds for each token instead of 2 D^2. The
backward pass is the chain rule on the right-hand sides.

In training the weight is folded, so queries arrive scaled, keys and values without offsets: see
engine.cpu.folding.
"""

from typing import NamedTuple

import numpy as np

from tinyvit.engine.cpu.attention import softmax_of_product


class LastAttentionCache(NamedTuple):
    """What the backward pass needs, apart from the tokens."""

    q: np.ndarray  # (H, B, K)
    u: np.ndarray  # (H, B, D)
    A: np.ndarray  # (B, H, N)
    z: np.ndarray  # (H, B, D)
    o: np.ndarray  # (B, H, K)


def last_attention(
    n: np.ndarray, weight: np.ndarray, bias: np.ndarray, heads: int, scale: float = 1.0
) -> tuple[np.ndarray, LastAttentionCache]:
    """Outputs (B, D) of the first of the tokens n (B, N, D), for the folded weight (D, 3D) and bias (3D,).

    For inference they need not be folded. Then the scale multiplies the queries, and the outputs lack the
    values' offsets.
    """
    B, N, D = n.shape
    Wq, Wk, Wv = _by_head(weight, heads)
    bq = bias[:D].reshape(heads, 1, -1)

    q = (n[:, 0] @ Wq + bq) * scale  # (H, B, K)
    u = q @ Wk.swapaxes(1, 2)  # (H, B, D)
    A = np.empty((B, heads, N), dtype=n.dtype)
    softmax_of_product(u.swapaxes(0, 1), n.swapaxes(1, 2), A)  #                              eq. 1
    z = np.empty_like(u)
    np.matmul(A, n, out=z.swapaxes(0, 1))  # (H, B, D)
    o = np.empty((B, heads, D // heads), dtype=n.dtype)
    np.matmul(z, Wv, out=o.swapaxes(0, 1))  #                                                 eq. 2
    return o.reshape(B, D), LastAttentionCache(q, u, A, z, o)


def last_attention_backward(
    do: np.ndarray,
    n: np.ndarray,
    cache: LastAttentionCache,
    weight: np.ndarray,
    dweight: np.ndarray,
    dq_bias: np.ndarray,
) -> np.ndarray:
    """dn (B, N, D) for do (B, D), with what last_attention was given, and found.

    Adds the folded parameters' gradients to dweight (D, 3D) and dq_bias (D,).
    """
    q, u, A, z, o = cache
    (B, _, D), heads = n.shape, len(q)
    _, Wk, Wv = _by_head(weight, heads)
    dWq, dWk, dWv = _by_head(dweight, heads)  # views
    do = do.reshape(o.shape).swapaxes(0, 1)  # (H, B, K)

    dWv += z.swapaxes(1, 2) @ do
    dz = do @ Wv.swapaxes(1, 2)  # (H, B, D)
    dS = dz.swapaxes(0, 1) @ n.swapaxes(1, 2)  # (B, H, N)
    dS -= np.vecdot(do.swapaxes(0, 1), o)[..., None]  # softmax: see attend_backward
    dS *= A
    du = np.empty_like(u)
    np.matmul(dS, n, out=du.swapaxes(0, 1))  # (H, B, D)
    dWk += du.swapaxes(1, 2) @ q
    dq = du @ Wk  # (H, B, K)
    dWq += n[:, 0].T @ dq
    dq_bias += dq.sum(axis=1).reshape(-1)

    # A^T dz + dS^T u, as one product
    left, right = np.concatenate([A, dS], axis=1), np.concatenate([dz, u]).swapaxes(0, 1)
    dn = left.swapaxes(1, 2) @ right  # (B, N, 2H) @ (B, 2H, D)
    dn[:, 0] += dq.swapaxes(0, 1).reshape(B, D) @ weight[:, :D].T
    return dn


def _by_head(weight: np.ndarray, heads: int) -> np.ndarray:
    """weight (D, 3D) as those of queries, keys and values, (3, H, D, K), a view."""
    return weight.reshape(len(weight), 3, heads, -1).transpose(1, 2, 0, 3)
