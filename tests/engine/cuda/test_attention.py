"""The kernels of attention do what the operations do, from q, k, v to o and back."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lessons.cuda_on_cpu import checking, thread_order
from tests.engine.cuda.run import assert_agrees, rounded, run
from tinyvit import ops
from tinyvit.engine.cuda.calls import attention as calls
from tinyvit.engine.cuda.calls.noise import noise_keys
from tinyvit.engine.cuda.calls.signature import SHARED_LIMIT
from tinyvit.engine.cuda.launch import Buffer

KINDS = (("float32", 7), ("float32", 16), ("bfloat16", 10), ("bfloat16", 24))  # a type and a head's width K
FORWARDS = tuple(f"attention<{Buffer('', (), d).c_type}, {K}>" for d, K in KINDS)
BACKWARDS = tuple(
    f"attention_backward<{Buffer('', (), d).c_type}, {K}, {kept}>"
    for d, K in KINDS
    for kept in ("true", "false")
)
SEED, STEP, FIRST, SITE = 3, 11, 5, 2  # of the random numbers
each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind[0]} K={kind[1]}")


def launches(dtype, B, N, H, K, Q, rate):
    """The forward's launch and both backwards', dS kept and not, for buffers named as the arguments."""
    D = H * K
    keys = Buffer("keys", (1 + SITE + 1, 2), "uint32") if rate else None
    qkv, bias = Buffer("qkv", (B, N, 3 * D), dtype), Buffer("bias", (3 * D,))
    out, log_sums = Buffer("out", (B, Q, D), dtype), Buffer("log_sums", (B, H, Q))
    dout, dqkv = Buffer("dout", (B, Q, D), dtype), Buffer("dqkv", (B, N, 3 * D), dtype)
    mask = calls.ScoreMask(rate, SITE, keys)
    forward = calls.attention(qkv, bias, out, log_sums, mask)
    partials = Buffer("partials", (B, 3 * D))
    backwards = (
        calls.attention_backward(dout, out, qkv, bias, log_sums, dqkv, partials, mask, limit)
        for limit in (SHARED_LIMIT, 0)
    )
    return forward, *backwards


def values(dtype, B, N, H, K, Q, seed):
    """Random inputs, as stored, and the keys of the random numbers."""
    rng, D = np.random.default_rng(seed), H * K
    return {
        "qkv": rounded(rng.normal(size=(B, N, 3 * D)), dtype),
        "bias": rng.normal(0, 0.5, 3 * D).astype(np.float32),
        "dout": rounded(rng.normal(size=(B, Q, D)), dtype),
        "keys": noise_keys(SEED, STEP, FIRST, SITE + 1),
    }


def reference(given, dtype, H, Q, rate):
    """out, log_sums (B, H, Q) and dqkv by the operations, in float64, and the size of terms that cancel.

    What the tensor cores multiply is rounded first: q, k and v, after their bias. So is o, from which the
    backward takes the row sums of dA * A.
    """
    B, N, width = given["qkv"].shape
    K = width // 3 // H
    noise = ops.Noise(SEED, STEP, FIRST)
    for _ in range(SITE):
        noise.uniform((1, 1), np)  # the draws of other parts of a model
    qkv = rounded(given["qkv"] + given["bias"], dtype).astype(np.float64).reshape(B, N, 3, H, K)
    q, k, v = qkv.transpose(2, 0, 3, 1, 4)  # 3 times (B, H, N, K)
    q = q[:, :, :Q] / np.sqrt(K)
    S = q @ k.transpose(0, 1, 3, 2)  # (B, H, Q, N)
    A, softmax_cache = ops.softmax(S)
    dropped, dropout_cache = ops.dropout(A, rate, noise)
    o = dropped @ v  # (B, H, Q, K)
    log_sums = S.max(-1) + np.log(np.exp(S - S.max(-1, keepdims=True)).sum(-1))

    dO = given["dout"].astype(np.float64).reshape(B, Q, H, K).transpose(0, 2, 1, 3)
    dA = ops.dropout_backward(dO @ v.transpose(0, 1, 3, 2), dropout_cache)
    of_rounding = (dO * (rounded(o, dtype) - o)).sum(-1, keepdims=True)
    dS = ops.softmax_backward(dA, softmax_cache) - A * of_rounding
    dqkv = np.zeros((B, N, 3, H, K))
    dq, dk, dv = dqkv.transpose(2, 0, 3, 1, 4)
    dq[:, :, :Q] = dS @ k / np.sqrt(K)
    dk[...] = dS.transpose(0, 1, 3, 2) @ q
    dv[...] = dropped.transpose(0, 1, 3, 2) @ dO
    terms = ops.dropout_backward(
        np.abs(dO) @ np.abs(v).transpose(0, 1, 3, 2), dropout_cache
    )  # that dA adds up
    size = (A * terms).max() * max(np.abs(k).max(), np.abs(q).max() * np.sqrt(K)) / np.sqrt(K)
    return o.transpose(0, 2, 1, 3).reshape(B, Q, -1), log_sums, dqkv.reshape(B, N, -1), size


def check(kind, B, N, H, Q, rate, given):
    """Run the forward and both backwards and compare what they write. The latter get the reference's o."""
    dtype, K = kind
    forward, *backwards = launches(dtype, B, N, H, K, Q, rate)
    out, log_sums, dqkv, size = reference(given, dtype, H, Q, rate)
    found = run(forward, given, FORWARDS)
    assert_agrees(found["out"], out, dtype)
    assert_agrees(found["log_sums"], log_sums, "float32", scale=1)
    assert [backward.function.endswith("true>") for backward in backwards] == [True, False]
    for backward in backwards:
        found = run(backward, {**given, "out": out, "log_sums": log_sums}, BACKWARDS)
        parts = [np.split(array, 3, axis=-1) for array in (found["dqkv"], found["partials"], dqkv)]
        for part, sums, expected in zip(*parts, strict=True):  # dq, dk, dv: each to its own scale
            assert_agrees(part, expected, dtype, scale=size)
            assert_agrees(sums, expected.sum(axis=1), dtype, scale=size + np.abs(expected).sum(axis=1).max())


@each_kind
@given(
    B=st.integers(1, 2),
    N=st.integers(1, 40),
    H=st.integers(1, 3),
    fewer=st.integers(0, 40),
    rate=st.sampled_from((0.0, 0.3)),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=25)
def test_o_and_the_gradients_of_q_k_and_v_are_those_of_the_operations(kind, B, N, H, fewer, rate, seed):
    Q = max(1, N - fewer)
    check(kind, B, N, H, Q, rate, values(kind[0], B, N, H, kind[1], Q, seed))


@pytest.mark.parametrize("kind", KINDS[1:3], ids=lambda kind: kind[0])
@pytest.mark.parametrize("queries", (131, 1))
def test_a_warp_takes_one_strip_after_another_where_there_are_more_strips_than_warps(kind, queries):
    check(kind, 1, 131, 2, queries, 0.2, values(kind[0], 1, 131, 2, kind[1], queries, seed=1))


def test_scores_far_apart_do_not_overflow():
    given = values("float32", 1, 37, 1, 16, 37, seed=2)
    given["bias"][:] = 0
    directions = 40 * np.eye(16)[np.arange(37) % 16]  # q k^T is 1600 where they agree, and 0 elsewhere
    given["qkv"][0, :, :32] = np.concatenate([directions, directions], axis=1)
    check(("float32", 16), 1, 37, 1, 37, 0.0, given)


def test_queries_alone_have_a_gradient_of_q():
    forward, *backwards = launches("float32", 1, 20, 1, 7, 3, 0.0)
    given = values("float32", 1, 20, 1, 7, 3, seed=3)
    given |= run(forward, given, FORWARDS)
    for backward in backwards:
        dqkv = run(backward, given, BACKWARDS)["dqkv"]
        assert dqkv[0, :3, :7].all() and not dqkv[0, 3:, :7].any()


CHECKED = (  # kind, tokens, queries, rate
    (("float32", 7), 37, 37, 0.3),
    (("bfloat16", 24), 20, 1, 0.0),
    (("bfloat16", 24), 131, 20, 0.2),
)


@pytest.mark.parametrize(("kind", "N", "Q", "rate"), CHECKED)
def test_no_thread_is_at_fault_and_the_bytes_moved_are_those_predicted(kind, N, Q, rate):
    forward, *backwards = launches(kind[0], 2, N, 2, kind[1], Q, rate)
    given = values(kind[0], 2, N, 2, kind[1], Q, seed=4)
    with checking(seed=5) as checks:
        given |= run(forward, given, FORWARDS)
        for backward in backwards:
            run(backward, given, BACKWARDS)
    predicted = [launch.bytes_moved for launch in (forward, *backwards)]
    assert [launch.bytes_moved for launch in checks.launches] == predicted


@pytest.mark.parametrize(("kind", "N", "Q", "rate"), CHECKED)
def test_the_order_of_threads_does_not_change_a_bit(kind, N, Q, rate):
    forward, *backwards = launches(kind[0], 2, N, 2, kind[1], Q, rate)
    given = values(kind[0], 2, N, 2, kind[1], Q, seed=6)
    results = []
    for seed in (1, 2):
        with thread_order(seed):
            found = run(forward, given, FORWARDS)
            results.append([found, *(run(backward, given | found, BACKWARDS) for backward in backwards)])
    for first, second in zip(*results, strict=True):
        for name, result in first.items():
            np.testing.assert_array_equal(result, second[name])


def test_dropout_without_keys_is_refused():
    qkv, out = Buffer("qkv", (1, 5, 21)), Buffer("out", (1, 5, 7))
    with pytest.raises(ValueError, match="keys"):
        mask = calls.ScoreMask(rate=0.1)
        calls.attention(qkv, Buffer("bias", (21,)), out, Buffer("log_sums", (1, 1, 5)), mask)


@pytest.mark.parametrize(
    ("tokens", "K", "dtype", "limit", "expected"),
    (
        (65, 64, "bfloat16", 64 * 1024, True),  # Ti/4 at 32 px, on every card
        (197, 64, "bfloat16", 101_376, True),  # B/16 at 224 px, on RTX 30 and 40
        (197, 64, "float32", 101_376, False),
        (197, 64, "float32", 232_448, True),  # on Hopper
        (577, 64, "bfloat16", 232_448, True),  # B/16 at 384 px
        (1025, 64, "bfloat16", 232_448, False),
        (65, 129, "bfloat16", 232_448, False),  # too wide for the registers
    ),
)
def test_what_fits_into_shared_memory(tokens, K, dtype, limit, expected):
    assert calls.fits(tokens, K, dtype, limit) is expected


def test_a_launch_asks_for_the_shared_memory_that_fits_counts():
    for dtype, K in KINDS:
        forward, _, backward = launches(dtype, 1, 33, 1, K, 33, 0.0)
        most = max(forward.shared_bytes, backward.shared_bytes)
        assert calls.fits(33, K, dtype, most) and not calls.fits(33, K, dtype, most - 1)


@pytest.mark.parametrize(
    ("tokens", "K", "dtype", "limit", "expected"),
    (
        (65, 64, "bfloat16", 101_376, True),  # Ti/4 at 32 px, on every card with bfloat16
        (65, 64, "float32", 101_376, False),
        (65, 64, "float32", 166_912, True),  # on A100
        (197, 64, "bfloat16", 166_912, False),
        (197, 64, "bfloat16", 232_448, True),  # B/16 at 224 px, on Hopper
        (257, 64, "bfloat16", 232_448, False),
        (129, 80, "bfloat16", 232_448, False),  # wide heads take more registers: there are at most 8 warps
    ),
)
def test_scores_are_kept_where_they_fit(tokens, K, dtype, limit, expected):
    assert calls.keeps_scores(tokens, K, dtype, limit) is expected
    qkv, out = Buffer("qkv", (1, tokens, 3 * K), dtype), Buffer("out", (1, tokens, K), dtype)
    rest = Buffer("bias", (3 * K,)), Buffer("log_sums", (1, 1, tokens)), qkv, Buffer("partials", (1, 3 * K))
    launch = calls.attention_backward(out, out, qkv, *rest, shared_limit=limit)
    strips = -(-tokens // 16)
    assert launch.multiply_adds == (5 if expected else 7) * (16 * strips) ** 2 * K
    assert (launch.block == (32 * strips,)) is (expected or strips <= 8)
    assert launch.shared_bytes <= limit or not expected


def test_the_bytes_are_those_of_the_arithmetic():
    forward, *backwards = launches("bfloat16", 1, 65, 3, 64, 65, 0.0)  # an image in a layer of Ti/4
    bias = 4 * 3 * 192
    assert forward.bytes_moved == 74_880 + 24_960 + 780 + bias
    for backward in backwards:
        assert backward.bytes_moved == 2 * 74_880 + 2 * 24_960 + 780 + 2304 + bias
