"""Three backwards of attention with one head. One of them is wrong for some q, k and v.

SUSPECTS gives for each name the forward, which is the same for all three, and the backward. forward(q, k, v)
returns (y, cache), and backward(dy, cache) returns dq, dk, dv. Each of the three arrays is (B, N, K).
"""

import math

import numpy as np


def forward(q, k, v):
    S = np.einsum("bni,bmi->bnm", q, k) / math.sqrt(q.shape[-1])
    A = np.exp(S - S.max(axis=-1, keepdims=True))
    A /= A.sum(axis=-1, keepdims=True)
    return A @ v, (q, k, v, A)


def index_by_index(dy, cache):
    q, k, v, A = cache
    dA = np.einsum("bni,bmi->bnm", dy, v)
    dS = A * (dA - np.einsum("bnm,bnm->bn", dA, A)[..., None]) / math.sqrt(q.shape[-1])
    dq = np.einsum("bnm,bmi->bni", dS, k)
    dk = np.einsum("bnm,bni->bmi", dS, q)
    return dq, dk, np.einsum("bnm,bni->bmi", A, dy)


def transposed_from_the_start(dy, cache):
    q, k, v, A = cache
    heard = A.swapaxes(-1, -2)  # (B, m, n)
    said = v @ dy.swapaxes(-1, -2)
    dS = heard * (said - (said * heard).sum(axis=1, keepdims=True))
    root = math.sqrt(dS.shape[-1])
    return dS.swapaxes(-1, -2) @ k / root, dS @ q / root, heard @ dy


def without_the_sums_of_rows(dy, cache):
    q, k, v, A = cache
    y = A @ v
    dS = A * (dy @ v.swapaxes(-1, -2) - (dy * y).sum(axis=-1, keepdims=True))
    dS /= math.sqrt(q.shape[-1])
    return dS @ k, dS.swapaxes(-1, -2) @ q, A.swapaxes(-1, -2) @ dy


SUSPECTS = {
    "index by index": (forward, index_by_index),
    "transposed from the start": (forward, transposed_from_the_start),
    "without the sums of rows": (forward, without_the_sums_of_rows),
}
