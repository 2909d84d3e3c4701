"""Checks of lesson 9."""

import importlib
import tracemalloc

import numpy as np
import pytest

from lessons.referee import Fault, assert_exposed, assert_operation, assert_same, assert_untouched

suspects = importlib.import_module("lessons.09_attention.suspects")


def inputs(seed=0, shape=(2, 5, 3)):
    """q, k and v, the queries and keys large enough that no row of the attention is nearly uniform."""
    rng = np.random.default_rng(seed)
    return {"q": rng.normal(size=shape), "k": rng.normal(0.5, 1.5, shape), "v": rng.normal(1, 2, shape)}


def token_by_token(q, k, v):
    """The definition, in loops."""
    y = np.zeros_like(v)
    B, N, K = q.shape
    for b, n in np.ndindex(B, N):
        shares = [np.exp(np.dot(q[b, n], k[b, m]) / np.sqrt(K)) for m in range(N)]
        for m in range(N):
            y[b, n] += shares[m] / sum(shares) * v[b, m]
    return y


@pytest.mark.hint(
    "every row of A adds up to 1: the softmax runs over the tokens that are asked, the last axis of S"
)
def test_if_all_say_the_same_all_hear_it(impl):
    arrays = inputs(1)
    v = np.broadcast_to(np.array([3.0, -1.0, 0.5]), arrays["v"].shape)
    arrays["v"] = v.copy()
    y, _ = impl.single_head(*arrays.values())
    assert_same(y, v, "y for equal values", of=token_by_token, inputs=arrays)


@pytest.mark.hint(
    "K is the last axis of q; q k^T is divided by math.sqrt(K), not by K; each image by itself",
    crash="the transpose of every image's k is k.swapaxes(-1, -2); .T turns all three axes round",
)
@pytest.mark.parametrize("shape", [(2, 5, 7), (3, 4, 2), (4, 1, 2), (1, 6, 1)], ids=str)
def test_values_token_by_token(impl, shape):
    arrays = inputs(2, shape)
    expected = token_by_token(**arrays)
    y, _ = impl.single_head(*arrays.values())
    assert_same(y, expected, "y", of=token_by_token, inputs=arrays)


@pytest.mark.hint("scores q k^T / sqrt(K), softmax along the last axis, then the product with v")
def test_three_tokens_by_hand(impl):
    x = np.array([[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]])
    q = np.array([[[0.0, 2.0], [1.0, 0.0], [1.0, 2.0]]])
    y, _ = impl.single_head(q, x, 10 * x)
    f = np.exp(np.sqrt(0.5))  # one point more, f times the attention
    a, b, c = 1 + 2 * f**2, 2 * f + 1, f + f**2 + f**3
    heard = [[(1 + f**2) / a, 2 * f**2 / a], [2 * f / b, (1 + f) / b], [(f + f**3) / c, (f**2 + f**3) / c]]
    assert_same(y, 10 * np.array([heard]), "y")


@pytest.mark.hint("exp of a score of 1,000 is infinite: use softmax from tinyvit.ops, which prevents that")
def test_large_scores(impl):
    q, k, v = inputs(3).values()
    shares = np.einsum("bni,bmi->bnm", 1000 * q, k) / np.sqrt(3)
    shares = np.exp(shares - shares.max(axis=-1, keepdims=True))
    expected = shares / shares.sum(axis=-1, keepdims=True) @ v
    y, cache = impl.single_head(1000 * q, k, v)
    assert_same(y, expected, "y for very large scores")
    for name, gradient in zip(("dq", "dk", "dv"), impl.single_head_backward(y, cache), strict=True):
        assert_same(np.isfinite(gradient).all(), True, f"{name} being finite")


@pytest.mark.hint(
    "do the shapes (B, N, K) fit, and is every size read from the right axis?",
    dv="what token m says is heard by every n, with the weight A_nm: sum over n",
    dq="the query of n meets all keys m, with dS_nm; the root of K belongs there, too",
    dk="the key of m meets all queries n, with dS_nm: sum over n; the root of K belongs there, once",
    dtype="np.sqrt(K) is a float64: math.sqrt(K) is a Python number and leaves float32 alone",
    cache="write no -= or *= on what the cache holds",
)
@pytest.mark.parametrize("shape", [(2, 5, 3), (1, 3, 7), (3, 2, 4), (4, 1, 2), (2, 3, 1)], ids=str)
def test_backward(impl, shape):
    assert_operation(impl.single_head, impl.single_head_backward, {"": inputs(4, shape)})


@pytest.mark.hint(
    "a constant added to a row of S changes nothing, so dS sums to 0 along each row, and dk over all tokens"
)
def test_the_gradient_of_the_keys_adds_up_to_zero(impl):
    q, k, v = inputs(5).values()
    _, cache = impl.single_head(q, k, v)
    _, dk, _ = impl.single_head_backward(np.random.default_rng(6).normal(size=q.shape), cache)
    assert_same(dk.sum(axis=1), np.zeros((2, 3)), "the sum of dk over the tokens", 1e-12)


@pytest.mark.hint(
    "all three agree when something coincides: which two sizes could be mistaken for each other?"
)
def test_guilty_attention(impl):
    assert_exposed(impl.guilty_attention(), suspects.SUSPECTS)


@pytest.mark.puzzle
@pytest.mark.hint(
    "a query needs its own row of A and no other; a key is asked by the queries of every piece",
    crash="the last piece may be shorter: a slice that goes too far stops at the end by itself",
)
@pytest.mark.parametrize("piece", [1, 3, 7, 20])
def test_lean_backward(impl, piece):
    arrays = inputs(8, (2, 7, 3))
    forward = lambda q, k, v: (suspects.forward(q, k, v)[0], (q, k, v))
    backward = lambda dy, cache: impl.lean_backward(dy, *cache, piece)
    assert_operation(forward, backward, {"": arrays})


@pytest.mark.puzzle
@pytest.mark.hint("each piece may use an array of piece x N, and must let go of it before the next")
def test_lean_backward_never_holds_the_attention(impl):
    rng = np.random.default_rng(9)
    q, k, v, dy = (rng.normal(size=(1, 1500, 4)).astype(np.float32) for _ in range(4))
    before = [array.copy() for array in (q, k, v, dy)]
    tracemalloc.start()
    try:
        impl.lean_backward(dy, q, k, v, 50)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    if peak > 4 * 1500 * 1500 // 2:
        raise Fault(
            f"lean_backward used {peak / 1e6:.0f} MB at once; all of A are 9 MB, and a piece is 0.3 MB"
        )
    assert_untouched(before, [q, k, v, dy], ["q", "k", "v", "dy"])
