"""One answer of many; the library's are in tinyvit/engine/cpu."""

import math

import numpy as np

from tinyvit.checking import TOLERANCE, check_gradients

LINEAR = math.sqrt(2 / math.pi)  # u = (LINEAR + CUBIC h^2) h
CUBIC = 0.044715 * LINEAR
PIECE = 32_768  # numbers in a piece


def fold(gain, offset, weight, bias):
    """The gain goes into the rows of the matrix, the offset through it."""
    return gain[:, None] * weight, offset @ weight + bias  # eq. 2


def unfold_gradients(dfolded_weight, dfolded_bias, gain, offset, weight):
    """The chain rule, backwards through fold."""
    dgain = (weight * dfolded_weight).sum(axis=1)  # eq. 3
    doffset = weight @ dfolded_bias  # eq. 4
    dweight = gain[:, None] * dfolded_weight + np.outer(offset, dfolded_bias)  # eq. 5
    return dgain, doffset, dweight, dfolded_bias.copy()  # eq. 6


def gelu_and_slope(h):
    """Two scratch arrays for each piece; the rows of h and g hold the rest."""
    R, M = h.shape
    g, rows = np.empty((R, M), dtype=h.dtype), max(1, PIECE // M)
    for start in range(0, R, rows):
        h_, g_ = h[start : start + rows], g[start : start + rows]
        square = h_ * h_
        s = square * CUBIC
        s += LINEAR
        s *= h_  # u
        np.tanh(s, out=s)
        s *= 0.5
        s += 0.5
        np.multiply(h_, s, out=g_)
        square *= 6 * CUBIC
        square += 2 * LINEAR  # 2 du/dh
        square *= g_
        np.subtract(1, s, out=h_)
        h_ *= square
        h_ += s  # eq. 7
    return g


def trust_folding(fold, unfold_gradients):
    """Values and gradients beside those of what was folded; then whether the inputs are as they were."""
    rng = np.random.default_rng(0)
    for R, D, O in ((5, 3, 4), (4, 3, 3), (3, 2, 6)):
        n = rng.normal(size=(R, D))
        inputs = rng.normal(1, 0.5, D), rng.normal(size=D), rng.normal(size=(D, O)), rng.normal(size=O)
        before = [each.copy() for each in inputs]

        def forward(gain, offset, weight, bias, n=n):
            folded_weight, folded_bias = fold(gain, offset, weight, bias)
            return n @ folded_weight + folded_bias, (n, gain, offset, weight)

        def backward(dy, cache):
            n, *rest = cache
            return unfold_gradients(n.T @ dy, dy.sum(axis=0), *rest)

        gain, offset, weight, bias = before
        y, cache = forward(*inputs)
        if not np.allclose(y, (n * gain + offset) @ weight + bias):
            return False
        if not max(check_gradients(forward, backward, inputs, rng)) < TOLERANCE:
            return False
        given = n.T @ y, y.sum(axis=0)
        kept = [each.copy() for each in given]
        unfold_gradients(*given, *cache[1:])
        pairs = zip((*inputs, *given), (*before, *kept), strict=True)
        if not all(np.array_equal(now, then) for now, then in pairs):
            return False
    return True


def fold_attention(qkv_weight, qkv_bias, out_weight, out_bias, heads):
    """Queries scaled; key offsets dropped, as softmax ignores them; value offsets moved behind the sum."""
    D = len(out_weight)
    scale = math.sqrt(heads / D)
    new_weight, new_bias = qkv_weight.copy(), np.zeros_like(qkv_bias)
    new_weight[:, :D] *= scale
    new_bias[:D] = qkv_bias[:D] * scale
    return new_weight, new_bias, out_weight.copy(), qkv_bias[2 * D :] @ out_weight + out_bias
