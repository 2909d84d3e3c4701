import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers import dtypes, seeds
from tinyvit.ops import attention, attention_backward, attention_probabilities


def attention_naively(x, qkv_weight, qkv_bias, out_weight, out_bias, heads, mask=None, relative=None):
    """One image, one head, one query token after the other; returns y and the probabilities.

    relative, if given, holds the vectors of the offsets from N - 1 down to -(N - 1).
    """
    (B, N, D), K = x.shape, x.shape[2] // heads
    (wq, wk, wv), (bq, bk, bv) = np.split(qkv_weight, 3, axis=1), np.split(qkv_bias, 3)
    y, probabilities = np.zeros((B, N, D)), np.zeros((B, heads, N, N))
    for b in range(B):
        side_by_side = np.zeros((N, D))
        for h in range(heads):
            own = slice(h * K, (h + 1) * K)
            for i in range(N):
                q = x[b, i] @ wq[:, own] + bq[own]
                scores = [q @ (x[b, j] @ wk[:, own] + bk[own]) / math.sqrt(K) for j in range(N)]
                if relative is not None:
                    extra = [q @ relative[N - 1 - (i - j)] / math.sqrt(K) for j in range(N)]
                    scores = [s + e for s, e in zip(scores, extra, strict=True)]
                weights = [math.exp(s - max(scores)) for s in scores]
                for j in range(N):
                    a = probabilities[b, h, i, j] = weights[j] / sum(weights)
                    if mask is not None:
                        a = a * mask[b, h, i, j]
                    side_by_side[i, own] += a * (x[b, j] @ wv[:, own] + bv[own])
        y[b] = side_by_side @ out_weight + out_bias
    return y, probabilities


def draw(seed, B=2, N=5, H=3, K=4, dtype="float64"):
    """Inputs of attention: x, the two matrices and the two biases."""
    rng, D = np.random.default_rng(seed), H * K
    shapes = (B, N, D), (D, 3 * D), (3 * D,), (D, D), (D,)
    return [rng.standard_normal(shape).astype(dtype) for shape in shapes]


sizes = {"B": st.integers(1, 3), "N": st.integers(1, 6), "H": st.integers(1, 4), "K": st.integers(1, 5)}


@settings(max_examples=25)
@given(seed=seeds(), **sizes)
def test_forward_equals_the_naive_loops(seed, B, N, H, K):
    inputs = draw(seed, B, N, H, K)
    y, cache = attention(*inputs, heads=H)
    expected, probabilities = attention_naively(*inputs, heads=H)
    np.testing.assert_allclose(y, expected, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(attention_probabilities(cache), probabilities, rtol=1e-10, atol=1e-13)


def test_every_head_reads_the_whole_token():
    x, qkv_weight, qkv_bias, _, out_bias = draw(2, B=1, N=3, H=3, K=4)
    eye = np.eye(12)  # instead of the output matrix: the heads stay side by side
    before, _ = attention(x, qkv_weight, qkv_bias, eye, out_bias, heads=3)
    for channel in range(12):
        moved = x.copy()
        moved[0, 1, channel] += 1
        after, _ = attention(moved, qkv_weight, qkv_bias, eye, out_bias, heads=3)
        assert (np.abs(after - before)[0].reshape(3, 3, 4).max(axis=(0, 2)) > 1e-6).all(), channel


def test_the_output_matrix_mixes_all_heads_into_every_channel():
    x, qkv_weight, qkv_bias, out_weight, out_bias = draw(3)
    before, _ = attention(x, qkv_weight, qkv_bias, out_weight, out_bias, heads=3)
    for head in range(3):
        moved = qkv_bias.copy()
        moved[24 + 4 * head : 24 + 4 * (head + 1)] += 1  # what this head has to say
        after, _ = attention(x, qkv_weight, moved, out_weight, out_bias, heads=3)
        assert (np.abs(after - before) > 1e-6).all(), head


@settings(max_examples=20)
@given(seed=seeds(), **sizes)
def test_shuffling_the_tokens_shuffles_the_answers(seed, B, N, H, K):
    x, *weights = draw(seed, B, N, H, K)
    order = np.random.default_rng(seed).permutation(N)
    y, _ = attention(x, *weights, heads=H)
    shuffled, _ = attention(x[:, order], *weights, heads=H)
    np.testing.assert_allclose(shuffled, y[:, order], rtol=1e-11, atol=1e-11)


def test_images_do_not_see_each_other():
    x, *weights = draw(4, B=3)
    y, _ = attention(x, *weights, heads=3)
    for b in range(3):
        alone, _ = attention(x[b : b + 1], *weights, heads=3)
        np.testing.assert_allclose(y[b], alone[0], rtol=1e-12)


@settings(max_examples=20)
@given(seed=seeds(), dtype=dtypes(), **sizes)
def test_the_gradient_of_the_key_bias_is_zero(seed, dtype, B, N, H, K):
    inputs = draw(seed, B, N, H, K, dtype)
    y, cache = attention(*inputs, heads=H)
    dy = np.random.default_rng(seed).standard_normal(y.shape).astype(dtype)
    _, _, dqkv_bias, _, _ = attention_backward(dy, cache)
    D, (_, (q, _, v, _), _) = H * K, cache
    dA = (dy @ inputs[3].T).reshape(B, N, H, K).transpose(0, 2, 1, 3) @ v.swapaxes(2, 3)
    # what would be added up if nothing cancelled, and one rounding for each of so many operations on it
    size, roundings = 2 * np.abs(q).sum() * np.abs(dA).max(), N + K + 8
    assert np.abs(dqkv_bias[D : 2 * D]).max() < size * roundings * np.finfo(dtype).eps


def test_probabilities_are_not_negative_and_add_up_to_one():
    _, cache = attention(*draw(5, dtype="float32"), heads=3)
    A = attention_probabilities(cache)
    assert A.shape == (2, 3, 5, 5) and (A >= 0).all()
    np.testing.assert_allclose(A.sum(axis=-1), 1, rtol=1e-6)


def test_one_token_attends_to_itself_whatever_the_scores():
    x, qkv_weight, qkv_bias, out_weight, out_bias = draw(6, N=1)
    y, _ = attention(x, qkv_weight, qkv_bias, out_weight, out_bias, heads=3)
    value = x @ qkv_weight[:, 24:] + qkv_bias[24:]
    np.testing.assert_allclose(y, value @ out_weight + out_bias, rtol=1e-12)


def test_scores_far_too_large_for_exp_do_no_harm():
    x, *weights = draw(7, dtype="float32")
    y, cache = attention(x * 1000, *weights, heads=3)
    gradients = attention_backward(np.ones_like(y), cache)
    assert all(np.isfinite(a).all() for a in (y, *gradients))
