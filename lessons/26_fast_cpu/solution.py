"""One answer of many; the library's are in tinyvit/engine/cpu."""

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from tinyvit import objectives
from tinyvit.gradcheck import random_params
from tinyvit.model import ViTConfig

LINEAR = math.sqrt(2 / math.pi)  # u = (LINEAR + CUBIC h^2) h
CUBIC = 0.044715 * LINEAR
PIECE = 32_768  # numbers in a piece


def gradients_on_threads(config, params, images, labels, pieces, threads):
    """Loss and gradients of the batch; thread t takes pieces t, t + threads, t + 2 threads, ..."""
    B = len(images)
    cuts = [B * i // pieces for i in range(pieces + 1)]
    parts = [slice(cuts[i], cuts[i + 1]) for i in range(pieces)]

    def work(thread):
        own, loss = params.zeros_like(), 0.0
        for part in parts[thread::threads]:
            share = (part.stop - part.start) / B
            loss += objectives.loss_and_grads(config, params, images[part], labels[part], own, share=share)
        return loss, own

    with ThreadPoolExecutor(threads) as pool:
        results = list(pool.map(work, range(threads)))  # in the order of the threads, not of finishing
    grads = params.zeros_like()
    for _, own in results:
        grads.flat += own.flat  # eq. 1
    return sum(loss for loss, _ in results), grads


def trust_gradients(gradients):
    """In float64 against the whole batch, for uneven pieces; in float32 for the same bits."""
    config = ViTConfig(8, patch_size=4, width=6, mlp_width=7, heads=2, layers=1, classes=3)
    rng = np.random.default_rng(0)
    wide = random_params(config, rng)
    for pieces, threads in ((1, 1), (3, 2), (8, 3), (9, 2), (2, 5)):
        images, labels = rng.normal(size=(9, 8, 8, 3)), rng.integers(0, 3, 9)
        given = [array.copy() for array in (wide.flat, images, labels)]
        expected = wide.zeros_like()
        right = objectives.loss_and_grads(config, wide, images, labels, expected)
        loss, table = gradients(config, wide, images, labels, pieces, threads)
        if abs(loss - right) > 1e-9 or np.abs(table.flat - expected.flat).max() > 1e-9:
            return False
        if not all(map(np.array_equal, given, (wide.flat, images, labels))):
            return False
    params, pixels = wide.astype("float32"), images.astype("float32")
    call = (config, params, pixels, labels, 8, 3)
    loss, table = gradients(*call)
    bits = table.flat.copy()
    gradients(config, params, pixels[::-1], labels, 8, 3)  # another batch
    if not np.array_equal(table.flat, bits):
        return False
    for _ in range(3):
        again, other = gradients(*call)
        if again != loss or not np.array_equal(other.flat, bits):
            return False
    return True


def fold(gain, offset, weight, bias):
    """The gain goes into the rows of the matrix, the offset through it."""
    return gain[:, None] * weight, offset @ weight + bias  # eq. 3


def unfold_gradients(dfolded_weight, dfolded_bias, gain, offset, weight):
    """The chain rule, backwards through fold."""
    dgain = (weight * dfolded_weight).sum(axis=1)  # eq. 4
    doffset = weight @ dfolded_bias  # eq. 5
    dweight = gain[:, None] * dfolded_weight + np.outer(offset, dfolded_bias)  # eq. 6
    return dgain, doffset, dweight, dfolded_bias.copy()  # eq. 7


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
        h_ += s  # eq. 8
    return g


def fold_attention(qkv_weight, qkv_bias, out_weight, out_bias, heads):
    """Queries scaled; key offsets dropped, as softmax ignores them; value offsets moved behind the sum."""
    D = len(out_weight)
    scale = math.sqrt(heads / D)
    new_weight, new_bias = qkv_weight.copy(), np.zeros_like(qkv_bias)
    new_weight[:, :D] *= scale
    new_bias[:D] = qkv_bias[:D] * scale
    return new_weight, new_bias, out_weight.copy(), qkv_bias[2 * D :] @ out_weight + out_bias
