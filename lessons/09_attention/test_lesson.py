"""Checks of lesson 9."""

import numpy as np
import pytest

from lessons.referee import assert_gradients, assert_same, assert_untouched


def inputs(seed=0, shape=(2, 4, 3)):
    """q, k and v, the queries and keys large enough that no row of the attention is nearly uniform."""
    rng = np.random.default_rng(seed)
    return {"q": rng.normal(size=shape), "k": rng.normal(0.5, 1.5, shape), "v": rng.normal(1, 2, shape)}


@pytest.mark.hint("scores q k^T / sqrt(K), softmax along the last axis, then the product with v")
def test_three_tokens_by_hand(impl):
    x = np.array([[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]])
    q = np.array([[[0.0, 2.0], [1.0, 0.0], [1.0, 2.0]]])
    y, _ = impl.single_head(q, x, 10 * x)
    f = np.exp(np.sqrt(0.5))  # one point more, f times the attention
    a, b, c = 1 + 2 * f**2, 2 * f + 1, f + f**2 + f**3
    heard = [[(1 + f**2) / a, 2 * f**2 / a], [2 * f / b, (1 + f) / b], [(f + f**3) / c, (f**2 + f**3) / c]]
    assert_same(y, 10 * np.array([heard]), "y")


@pytest.mark.hint(
    "every row of A adds up to 1: the softmax runs over the tokens that are asked, the last axis of S"
)
def test_if_all_say_the_same_all_hear_it(impl):
    q, k, _ = inputs(1).values()
    v = np.broadcast_to(np.array([3.0, -1.0, 0.5]), q.shape).copy()
    y, _ = impl.single_head(q, k, v)
    assert_same(y, v, "y for equal values")


@pytest.mark.hint("K is the last axis of q; q k^T is divided by math.sqrt(K), not by K")
def test_values_token_by_token(impl):
    q, k, v = inputs(2, (2, 5, 7)).values()
    y, _ = impl.single_head(q, k, v)
    expected = np.zeros_like(v)
    for b, n in np.ndindex(2, 5):
        shares = [np.exp(np.dot(q[b, n], k[b, m]) / np.sqrt(7)) for m in range(5)]
        for m in range(5):
            expected[b, n] += shares[m] / sum(shares) * v[b, m]
    assert_same(y, expected, "y")


@pytest.mark.hint(
    "if dv is wrong: A is transposed, token m's value was heard by all n; if dq: keys times dS, over "
    "sqrt(K); if dk: dS is transposed, and sqrt(K) belongs there too"
)
def test_backward(impl):
    assert_gradients(impl.single_head, impl.single_head_backward, inputs(3))


@pytest.mark.hint("the same formulas with N = 3 and K = 6: K is q.shape[-1]; check every transpose")
def test_backward_with_more_numbers_than_tokens(impl):
    assert_gradients(impl.single_head, impl.single_head_backward, inputs(4, (1, 3, 6)))


@pytest.mark.hint(
    "a constant added to a row of S changes nothing, so dS sums to 0 along each row, and dk over all tokens"
)
def test_the_gradient_of_the_keys_adds_up_to_zero(impl):
    q, k, v = inputs(5).values()
    _, cache = impl.single_head(q, k, v)
    _, dk, _ = impl.single_head_backward(np.random.default_rng(6).normal(size=q.shape), cache)
    assert_same(dk.sum(axis=1), np.zeros((2, 3)), "the sum of dk over the tokens", 1e-12)


@pytest.mark.hint(
    "np.sqrt(K) is a float64: math.sqrt(K) is a Python number and leaves float32 alone; write no /= on q"
)
def test_float32_stays_float32_and_inputs_stay_whole(impl):
    arrays = [array.astype(np.float32) for array in inputs(7).values()]
    before = [array.copy() for array in arrays]
    y, cache = impl.single_head(*arrays)
    assert y.dtype == np.float32, f"y has dtype {y.dtype}, expected float32"
    for name, gradient in zip(("dq", "dk", "dv"), impl.single_head_backward(y, cache), strict=True):
        assert gradient.dtype == np.float32, f"{name} has dtype {gradient.dtype}, expected float32"
    assert_untouched(before, arrays)
