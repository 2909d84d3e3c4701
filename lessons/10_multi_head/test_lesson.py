"""Checks of lesson 10."""

import numpy as np
import pytest

from lessons.referee import assert_gradients, assert_same, assert_untouched


def inputs(seed=0, B=2, N=4, D=6):
    """Tokens, and weights and biases none of which is 0 or 1."""
    rng = np.random.default_rng(seed)
    shapes = {
        "x": (B, N, D),
        "qkv_weight": (D, 3 * D),
        "qkv_bias": (3 * D,),
        "out_weight": (D, D),
        "out_bias": (D,),
    }
    return {name: rng.normal(0, 0.8, shape) for name, shape in shapes.items()}


def with_heads(impl, heads):
    """The attention of the answer with its number of heads fixed."""
    return lambda *arrays: impl.attention(*arrays, heads)


@pytest.mark.hint("reshape the last axis to (3, H, K), then transpose to (3, B, H, N, K)")
def test_splitting_into_heads(impl):
    B, N, H, K = 2, 5, 3, 4
    qkv = np.arange(B * N * 3 * H * K, dtype=float).reshape(B, N, 3 * H * K)
    parts = impl.split_heads(qkv, H)
    assert len(parts) == 3, f"expected q, k and v, got {len(parts)} arrays"
    for number, (name, part) in enumerate(zip("qkv", parts, strict=True)):
        expected = np.empty((B, H, N, K))
        for h in range(H):
            first = (number * H + h) * K
            expected[:, h] = qkv[:, :, first : first + K]
        assert_same(part, expected, name)


@pytest.mark.hint(
    "each head: its own K columns of q, k and v, from the whole token; scores over sqrt(K), K = D / H"
)
def test_values_head_by_head(impl):
    x, W, b, out_weight, out_bias = inputs(1).values()
    y, _ = impl.attention(x, W, b, out_weight, out_bias, 2)
    joined = np.empty_like(x)
    for image in range(2):
        for first in (0, 3):
            q, k, v = (x[image] @ W[:, c : c + 3] + b[c : c + 3] for c in (first, 6 + first, 12 + first))
            S = np.exp(q @ k.T / np.sqrt(3))
            joined[image, :, first : first + 3] = S / S.sum(axis=1, keepdims=True) @ v
    assert_same(y, joined @ out_weight + out_bias, "y")


@pytest.mark.hint(
    "x @ qkv_weight uses all D rows for every column: only q, k and v are cut into heads, never x"
)
def test_every_head_reads_the_whole_token(impl):
    x, W, b, _, out_bias = inputs(2).values()
    before, _ = impl.attention(x, W, b, np.eye(6), out_bias, 2)
    pushed = x.copy()
    pushed[..., -1] += 1
    after, _ = impl.attention(pushed, W, b, np.eye(6), out_bias, 2)
    assert np.abs(after - before)[..., :3].max() > 1e-6, (
        "head 1 does not notice a change of the token's last number"
    )


@pytest.mark.hint("the joined heads go through a linear layer: out_weight (D, D) and out_bias")
def test_the_output_projection(impl):
    x, W, b, _, out_bias = inputs(3).values()
    y, _ = impl.attention(x, W, b, np.zeros((6, 6)), out_bias, 2)
    assert_same(y, np.broadcast_to(out_bias, x.shape).copy(), "y with an out_weight of zeros")


@pytest.mark.hint(
    "dout wrong: eq. 6. dqkv or dx wrong: is do cut into heads by a reshape and a transpose? then the "
    "transposes in eq. 7 and 9, and the order in which dq, dk and dv are put side by side"
)
def test_backward(impl):
    assert_gradients(with_heads(impl, 2), impl.attention_backward, inputs(4))


@pytest.mark.hint("with D = 6 and three heads K is 2: take H and K from the shapes in the cache")
def test_backward_with_three_heads(impl):
    assert_gradients(with_heads(impl, 3), impl.attention_backward, inputs(5, B=1, N=5))


@pytest.mark.hint(
    "rows of dS add up to 0, so the sum of dk over all tokens is 0, and that is the key bias's gradient"
)
def test_the_key_bias_has_no_gradient(impl):
    arrays = inputs(6).values()
    y, cache = impl.attention(*arrays, 2)
    _, _, dqkv_bias, *_ = impl.attention_backward(np.random.default_rng(7).normal(size=y.shape), cache)
    assert_same(np.asarray(dqkv_bias)[6:12], np.zeros(6), "the gradient of the key bias", 1e-12)


@pytest.mark.hint("use math.sqrt, not np.sqrt, and give every new array dtype=x.dtype")
def test_float32_stays_float32_and_inputs_stay_whole(impl):
    arrays = [array.astype(np.float32) for array in inputs(8).values()]
    before = [array.copy() for array in arrays]
    y, cache = impl.attention(*arrays, 2)
    assert y.dtype == np.float32, f"y has dtype {y.dtype}, expected float32"
    for number, gradient in enumerate(impl.attention_backward(y, cache)):
        assert gradient.dtype == np.float32, f"gradient {number} has dtype {gradient.dtype}, expected float32"
    assert_untouched(before, arrays)
