"""Checks of lesson 6."""

import functools
import math
import tracemalloc

import numpy as np
import pytest

from lessons.referee import Fault, assert_operation, assert_same, assert_trust, assert_untouched
from tinyvit.ops import attention, attention_backward


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


# Many heads

SIZES = {  # B, N, D, heads: within a case B, N, D, H and K = D / H all differ
    "H = 2, K = 3": (5, 4, 6, 2),
    "H = 3, K = 2": (1, 5, 6, 3),
    "H = 1": (3, 2, 5, 1),
    "H = D, so K = 1": (2, 3, 4, 4),
    "one token": (3, 1, 8, 2),
}
sizes = pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)


def tokens_and_weights(B, N, D, seed=0):
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


def with_heads(forward, heads):
    """An attention with its number of heads fixed."""
    return lambda *arrays: forward(*arrays, heads)


def head_by_head(x, W, b, out_weight, out_bias, heads):
    """One head and one image at a time."""
    D = x.shape[-1]
    K = D // heads
    joined = np.empty_like(x)
    for image, tokens in enumerate(x):
        for first in range(0, D, K):
            q, k, v = (tokens @ W[:, c : c + K] + b[c : c + K] for c in (first, D + first, 2 * D + first))
            S = np.exp(q @ k.T / math.sqrt(K))
            joined[image, :, first : first + K] = S / S.sum(axis=1, keepdims=True) @ v
    return joined @ out_weight + out_bias


@pytest.mark.hint(
    "reshape the last axis to (3, H, K), then transpose to (3, B, H, N, K)",
    shape="each of q, k and v is (B, H, N, K): heads before tokens",
    crash="K is a third of the last axis, divided by the number of heads",
)
@pytest.mark.parametrize(("B", "N", "H", "K"), [(2, 5, 3, 4), (3, 2, 1, 5), (2, 3, 4, 1), (1, 4, 2, 6)])
def test_splitting_into_heads(impl, B, N, H, K):
    qkv = np.arange(B * N * 3 * H * K, dtype=np.float32).reshape(B, N, 3 * H * K)
    parts = impl.split_heads(qkv, H)
    assert len(parts) == 3, f"expected q, k and v, got {len(parts)} arrays"
    for number, (name, part) in enumerate(zip("qkv", parts, strict=True)):
        expected = np.empty((B, H, N, K), np.float32)
        for h in range(H):
            first = (number * H + h) * K
            expected[:, h] = qkv[:, :, first : first + K]
        assert_same(part, expected, name)


@pytest.mark.hint(
    "x @ qkv_weight uses all D rows for every column: only q, k and v are cut into heads, never x"
)
def test_every_head_reads_the_whole_token(impl):
    x, W, b, _, out_bias = tokens_and_weights(2, 4, 6, seed=2).values()
    before, _ = impl.attention(x, W, b, np.eye(6), out_bias, 2)
    pushed = x.copy()
    pushed[..., -1] += 1
    after, _ = impl.attention(pushed, W, b, np.eye(6), out_bias, 2)
    assert np.abs(after - before)[..., :3].max() > 1e-6, (
        "head 1 does not notice a change of the token's last number"
    )


@pytest.mark.hint("the joined heads go through a linear layer: out_weight (D, D) and out_bias")
def test_the_output_projection(impl):
    x, W, b, _, out_bias = tokens_and_weights(2, 4, 6, seed=3).values()
    y, _ = impl.attention(x, W, b, np.zeros((6, 6)), out_bias, 2)
    assert_same(y, np.broadcast_to(out_bias, x.shape).copy(), "y with an out_weight of zeros")


@pytest.mark.hint(
    "each head: its own K columns of q, k and v, from the whole token; scores over sqrt(K), K = D / H",
    crash="B, N, D and H all differ here: take every size from x.shape and heads",
)
@sizes
def test_values_head_by_head(impl, size):
    *shape, heads = size
    arrays = tokens_and_weights(*shape, seed=1)
    expected = head_by_head(*arrays.values(), heads)
    y, _ = impl.attention(*arrays.values(), heads)
    assert_same(y, expected, "y", of=functools.partial(in_thirds, heads), inputs=thirds(**arrays))


def thirds(x, qkv_weight, qkv_bias, out_weight, out_bias):
    """The inputs, with the parameters of q, k and v each by itself."""
    arrays = {"x": x, "out_weight": out_weight, "out_bias": out_bias}
    for name, weight, bias in zip("qkv", np.split(qkv_weight, 3, 1), np.split(qkv_bias, 3), strict=True):
        arrays |= {f"{name}.weight": weight, f"{name}.bias": bias}
    return arrays


def in_thirds(heads, x, out_weight, out_bias, *parts):
    """head_by_head, from what `thirds` gives."""
    return head_by_head(
        x, np.concatenate(parts[::2], 1), np.concatenate(parts[1::2]), out_weight, out_bias, heads
    )


@pytest.mark.hint("exp of a score of 1,000 is infinite: use softmax from tinyvit.ops, which prevents that")
def test_large_scores_with_heads(impl):
    x, W, b, out_weight, out_bias = tokens_and_weights(2, 4, 6, seed=4).values()
    y, cache = impl.attention(30 * x, 30 * W, b, out_weight, out_bias, 2)
    assert np.isfinite(y).all(), "y is not finite when the scores are large"
    for name, gradient in zip(tokens_and_weights(2, 4, 6), impl.attention_backward(y, cache), strict=True):
        assert np.isfinite(gradient).all(), f"d{name} is not finite when the scores are large"


@pytest.mark.hint(
    "take H and K from the shapes in the cache",
    dout_weight="equation 6: joined heads, transposed, times dy, as in a linear layer",
    dout_bias="equation 6: column sums of dy over all images and tokens, not their mean",
    dqkv_weight="is the gradient of o cut into heads by a reshape and a transpose? are dq, dk and dv side by "
    "side in the order (q k v, head, K)?",
    dqkv_bias="column sums over all images and tokens; side by side in the order (q k v, head, K)",
    dx="every step before dx may be at fault: dO cut into heads by a reshape and a transpose; the root of K "
    "in dq and dk; the three side by side in the order (q k v, head, K); one product with all 3D columns",
    dtype="use math.sqrt, not np.sqrt, and give every new array dtype=x.dtype",
)
@sizes
def test_backward_with_heads(impl, size):
    *shape, heads = size
    case = {f"{heads} heads": tokens_and_weights(*shape, seed=5)}
    assert_operation(with_heads(impl.attention, heads), impl.attention_backward, case)


@pytest.mark.hint(
    "rows of dS add up to 0, so the sum of dk over all tokens is 0, and that is the key bias's gradient"
)
def test_the_key_bias_has_no_gradient(impl):
    arrays = tokens_and_weights(2, 4, 6, seed=6).values()
    y, cache = impl.attention(*arrays, 2)
    _, _, dqkv_bias, *_ = impl.attention_backward(np.random.default_rng(7).normal(size=y.shape), cache)
    assert_same(np.asarray(dqkv_bias)[6:12], np.zeros(6), "the gradient of the key bias", 1e-12)


def _reordered(x, W, b, out_weight, out_bias, heads):
    """The heads are joined in the opposite order."""
    order = np.arange(len(out_weight)).reshape(heads, -1)[::-1].ravel()
    y, cache = attention(x, W, b, out_weight[order], out_bias, heads)
    return y, (cache, order.argsort())


def _reordered_backward(dy, cache):
    cache, back = cache
    dx, dW, db, dout_weight, dout_bias = attention_backward(dy, cache)
    return dx, dW, db, dout_weight[back], dout_bias


def _two_heads(x, W, b, out_weight, out_bias, heads):
    """Always two heads; where D is odd, the smallest other number than asked for."""
    D = x.shape[-1]
    others = [other for other in range(1, D + 1) if D % other == 0 and other != heads]
    return attention(x, W, b, out_weight, out_bias, min(others, default=heads) if D % 2 else 2)


def _biases_of_zero(x, W, b, out_weight, out_bias, heads):
    """Without the bias of q, k and v."""
    return attention(x, W, b * 0, out_weight, out_bias, heads)


def _biases_of_zero_backward(dy, cache):
    dx, dW, db, *others = attention_backward(dy, cache)
    return dx, dW, db * 0, *others


def _exchanged(dy, cache):
    """The gradients of Wk and Wv are exchanged."""
    dx, dW, db, *others = attention_backward(dy, cache)
    D = len(dW)
    return dx, np.concatenate([dW[:, :D], dW[:, 2 * D :], dW[:, D : 2 * D]], axis=1), db, *others


def _out_transposed(dy, cache):
    """The gradient of the output matrix is transposed."""
    *others, dout_weight, dout_bias = attention_backward(dy, cache)
    return *others, dout_weight.T, dout_bias


def _key_bias(dy, cache):
    """The key bias gets the query bias's gradient."""
    dx, dW, db, *others = attention_backward(dy, cache)
    D = len(dW)
    db = db.copy()
    db[D : 2 * D] = db[:D]
    return dx, dW, db, *others


def _first_image(dy, cache):
    """The bias of the output is summed over the tokens of the first image only."""
    *others, _ = attention_backward(dy, cache)
    return *others, dy[0].sum(axis=0)


def _no_values(dy, cache):
    """The gradient that reaches x through the last head's values is forgotten."""
    dx, dW, *others = attention_backward(dy, cache)
    (_, weight), (_, _, v, A), (_, out_weight) = cache
    H, K = v.shape[1], v.shape[3]
    dv = A[:, -1].swapaxes(-1, -2) @ (dy @ out_weight.T)[..., -K:]
    return dx - dv @ weight[:, -K:].T * (H > 2), dW, *others


WRONG = {
    "the heads are joined in the opposite order": (_reordered, _reordered_backward),
    "it always takes two heads (or, where D is odd, another wrong number)": (_two_heads, attention_backward),
    "the bias of q, k and v is left out": (_biases_of_zero, _biases_of_zero_backward),
    "the gradients of Wk and Wv are exchanged": (attention, _exchanged),
    "dout_weight is transposed": (attention, _out_transposed),
    "the key bias gets a gradient": (attention, _key_bias),
    "dout_bias is that of the first image": (attention, _first_image),
    "dx lacks the values of the last head, if there are more than two": (attention, _no_values),
}


@pytest.mark.hint(
    "which sizes would hide this fault: one image, one head, two heads? Compare the values with one head "
    "after the other, and every one of the five gradients with central differences",
    right="do you compare with an attention of your own that is still wrong? And the gradient of the key "
    "bias is 0 but for rounding: an error relative to its size needs a floor",
)
def test_trust_multi_head(impl):
    assert_trust(impl.trust_multi_head, (attention, attention_backward), WRONG)


def grouped(q, k, v):
    """Head by head: head h asks the keys of group h // (H / G)."""
    share, y = q.shape[1] // k.shape[1], np.empty_like(q)
    for h in range(q.shape[1]):
        S = np.exp(q[:, h] @ k[:, h // share].swapaxes(-1, -2) / math.sqrt(q.shape[-1]))
        y[:, h] = S / S.sum(axis=-1, keepdims=True) @ v[:, h // share]
    return y, (q, k, v)


# The puzzles


@pytest.mark.puzzle
@pytest.mark.hint(
    "a query needs its own row of A and no other; a key is asked by the queries of every piece",
    crash="the last piece may be shorter: a slice that goes too far stops at the end by itself",
)
@pytest.mark.parametrize("piece", [1, 3, 7, 20])
def test_lean_backward(impl, piece):
    arrays = inputs(8, (2, 7, 3))
    forward = lambda q, k, v: (token_by_token(q, k, v), (q, k, v))
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


@pytest.mark.puzzle
@pytest.mark.hint(
    "lesson 5: whatever the forward copies, the backward adds up",
    shape="dk and dv are as k and v: one for each group, not for each head",
)
@pytest.mark.parametrize(
    ("B", "H", "G", "N", "K"), [(2, 6, 3, 4, 5), (1, 6, 2, 3, 4), (3, 4, 1, 2, 5), (2, 3, 3, 4, 1)]
)
def test_grouped_heads(impl, B, H, G, N, K):
    rng = np.random.default_rng(8)
    case = {
        "q": rng.normal(size=(B, H, N, K)),
        "k": rng.normal(size=(B, G, N, K)),
        "v": rng.normal(1, 2, (B, G, N, K)),
    }
    backward = lambda dy, cache: impl.grouped_heads_backward(dy, *cache)
    assert_operation(grouped, backward, {f"{H} heads, {G} groups": case})
