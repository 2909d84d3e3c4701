"""Attention up to its outputs, forward and backward; see ops.attention.

In training the weight is folded, so queries arrive scaled, keys and values without offsets: see
engine.cpu.folding. The scores of all heads may not fit in a core's cache, but those of a few do, so
everything between the matrices is done for a few before the next are begun.

In the last block of a class-token model the head reads no other token, so keys and values are needed for one
query of each head, never by themselves. With tokens n_j, a query q (K), and the head's columns Wk and Wv
(D, K) of the matrix,

    scores    q . (n_j Wk)        =  (Wk q) . n_j         =  u . n_j                                      (1)
    output    sum_j A_j (n_j Wv)  =  (sum_j A_j n_j) Wv   =  z Wv                                         (2)

On the left, the matrices multiply every token. On the right, they multiply one vector of each head, and every
token meets only u and A. With H heads that is 2 H D multiply-adds for each token instead of 2 D^2. The
backward pass is the chain rule on the right-hand sides.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tinyvit.engine.cpu.products import add_product, pieces, product_plus_bias
from tinyvit.ops.linear import column_sums
from tinyvit.ops.rotary import Turn

_PIECES_AT_ONCE = 4  # the scores that are worked on at once fill about this many pieces: 2 MiB

# A row of scores whose exponentials sum to something between these needs no largest entry subtracted. float16
# holds neither of them.
_LEAST_SUM, _LARGEST_SUM = 1e-18, 1e30


class AttentionCache(NamedTuple):
    """The cache of attention, apart from the tokens."""

    qkv: np.ndarray  # (B, N, 3, H, K), turned
    turn: Turn | None
    A: np.ndarray  # (B, H, Q, N)
    o: np.ndarray  # (B, Q, H, K)


def attention(
    n: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray,
    heads: int,
    turn: Turn | None = None,
    queries: int | None = None,
) -> tuple[np.ndarray, AttentionCache]:
    """Outputs (B, Q, D) of the first Q tokens of n (B, N, D), for the folded weight (D, 3D) and bias (3D,).

    Without a number of queries, they are those of all tokens. turn is that of rotary positions, if the model
    has them.
    """
    (B, N, D), Q = n.shape, queries or n.shape[1]
    qkv = product_plus_bias(n.reshape(-1, D), weight, bias).reshape(B, N, 3, heads, D // heads)
    if turn:
        turn_in_place(qkv, turn)
    A = np.empty((B, heads, Q, N), dtype=n.dtype)
    o = attend(qkv, A, queries=Q)
    return o.reshape(B, Q, D), AttentionCache(qkv, turn, A, o)


def attention_backward(
    do: np.ndarray,
    n: np.ndarray,
    cache: AttentionCache,
    weight: np.ndarray,
    dweight: np.ndarray,
    dq_bias: np.ndarray,
    dk_bias: np.ndarray,
) -> np.ndarray:
    """dn (B, N, D) for do (B, Q, D), with what attention was given, and found.

    Adds the folded parameters' gradients to dweight (D, 3D) and dq_bias (D,); and, if keys are turned, to
    dk_bias (D,).
    """
    D = n.shape[2]
    dqkv = attend_backward(do.reshape(cache.o.shape), cache.qkv, cache.o, cache.A)
    if cache.turn:
        turn_in_place(dqkv, cache.turn.back)
    dqkv = dqkv.reshape(-1, 3 * D)
    add_product(dweight, n.reshape(-1, D).T, dqkv)
    dq_bias += column_sums(dqkv[:, :D])
    if cache.turn:
        dk_bias += column_sums(dqkv[:, D : 2 * D])
    return (dqkv @ weight.T).reshape(n.shape)


def attend(
    qkv: np.ndarray, A: np.ndarray | None = None, scale: float = 1.0, queries: int | None = None
) -> np.ndarray:
    """Outputs o (B, Q, H, K) for qkv (B, N, 3, H, K): of the first Q tokens, or of all.

    The probabilities are written to A (B, H, Q, N), if it is given. The scale is for queries that arrive
    without it.
    """
    B, N, _, H, K = qkv.shape
    q, k, v = qkv.transpose(2, 0, 3, 1, 4)  # 3 times (B, H, N, K)
    q = q[:, :, :queries]
    o = np.empty((B, q.shape[2], H, K), dtype=qkv.dtype)
    heads_of_o = o.transpose(0, 2, 1, 3)  # a view
    for some in _some_heads((B, H, N)):
        q_, k_ = q[some], k[some]
        A_ = np.empty((*q_.shape[:3], N), dtype=qkv.dtype) if A is None else A[some]
        softmax_of_product(q_, _transposed(k_, scale), A_)
        np.matmul(A_, v[some], out=heads_of_o[some])
    return o


def turn_in_place(qkv: np.ndarray, turn: Turn) -> None:
    """Turn the queries and keys of qkv (B, N, 3, H, K) by their positions: see ops.rotary."""
    x1, x2 = turn.points(qkv[:, -turn.tokens :, :2])  # (B, T, 2, H, K/2), views
    cos, sin = turn.cos[:, None, None], turn.sin[:, None, None]
    turned = x1 * cos - x2 * sin
    x2 *= cos
    x2 += x1 * sin
    x1[...] = turned


def attend_backward(do: np.ndarray, qkv: np.ndarray, o: np.ndarray, A: np.ndarray) -> np.ndarray:
    """dqkv (B, N, 3, H, K) for do (B, Q, H, K), with what attend was given, and found.

    The sum over keys of dA * A, which softmax subtracts, is do . o: the sum of do_k A_n v_nk over n and k in
    another order.
    """
    q, k, v = qkv.transpose(2, 0, 3, 1, 4)
    dqkv = np.empty_like(qkv)
    dq, dk, dv = dqkv.transpose(2, 0, 3, 1, 4)  # views
    Q = do.shape[1]
    dq[:, :, Q:] = 0  # those tokens did not ask
    q, dq = q[:, :, :Q], dq[:, :, :Q]
    do, o = do.transpose(0, 2, 1, 3), o.transpose(0, 2, 1, 3)  # (B, H, Q, K)
    for some in _some_heads(k.shape[:3]):
        A_, do_ = A[some], do[some]
        np.matmul(A_.swapaxes(2, 3), do_, out=dv[some])
        dS = do_ @ _transposed(v[some])  # (.., Q, N)
        dS -= np.vecdot(do_, o[some])[..., None]
        dS *= A_
        np.matmul(dS, k[some], out=dq[some])
        np.matmul(dS.swapaxes(2, 3), q[some], out=dk[some])
    return dqkv


class LastAttentionCache(NamedTuple):
    """The cache of the last attention, apart from the tokens."""

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


def softmax_of_product(q: np.ndarray, keys: np.ndarray, A: np.ndarray) -> None:
    """Write to A (.., Q, N) the softmax of q (.., Q, K) times keys (.., K, N), row by row.

    Subtracting the largest entry of each row first guards against overflow, at the price of two more passes.
    Scores are rarely that large: they are first tried as they are, and the sums tell whether it went well.
    """
    np.matmul(q, keys, out=A)
    with np.errstate(over="ignore", invalid="ignore"):  # BLAS may multiply inf by its padding, 0
        np.exp(A, out=A)
        sums = _row_sums(A)
    if A.dtype.itemsize < 4 or not (sums.min() > _LEAST_SUM and sums.max() < _LARGEST_SUM):
        np.matmul(q, keys, out=A)
        A -= A.max(axis=-1, keepdims=True)
        np.exp(A, out=A)
        sums = _row_sums(A)
    A *= np.reciprocal(sums, out=sums)


def _row_sums(A: np.ndarray) -> np.ndarray:
    return A @ np.ones((A.shape[-1], 1), dtype=A.dtype)


def _transposed(x: np.ndarray, scale: float = 1.0) -> np.ndarray:
    """x (B, H, N, K), scaled, as (B, H, K, N): BLAS multiplies small matrices faster this way round."""
    B, H, N, K = x.shape
    return np.multiply(x.swapaxes(2, 3), scale, out=np.empty((B, H, K, N), dtype=x.dtype))


def _some_heads(shape: tuple[int, ...]) -> Iterator[tuple[slice, slice]]:
    """Indices of A (B, H, N, N), given (B, H, N): some images with all their heads, or some heads of one."""
    B, H, N = shape
    for images in pieces(B, H * N * N, _PIECES_AT_ONCE):
        for heads in pieces(H, (images.stop - images.start) * N * N, _PIECES_AT_ONCE):
            yield images, heads


def _by_head(weight: np.ndarray, heads: int) -> np.ndarray:
    """weight (D, 3D) as those of queries, keys and values, (3, H, D, K), a view."""
    return weight.reshape(len(weight), 3, heads, -1).transpose(1, 2, 0, 3)
