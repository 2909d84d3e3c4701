"""The parts of the CPU engine's blocks, each beside the plain operations that it stands for."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import distance, random_batch, seeds, tiny_config
from tinyvit import ops
from tinyvit.engine import CpuEngine, ReferenceEngine
from tinyvit.engine.cpu import attention, products
from tinyvit.engine.cpu import engine as engine_module
from tinyvit.engine.cpu.attention import attend, attend_backward, last_attention, last_attention_backward
from tinyvit.engine.cpu.blocks import Blocks, add_normalise_backward, layer_norm, normalise
from tinyvit.engine.cpu.folding import Folded, fold, unfold_gradients
from tinyvit.engine.cpu.gelu import gelu_and_slope, gelu_backward, twice_gelu
from tinyvit.engine.cpu.products import add_product, product_plus_bias
from tinyvit.gradcheck import numerical_gradient, random_params
from tinyvit.model.later.rotary import DINOV3


@pytest.fixture(params=[1, 40, 10**6])
def any_pieces(request, monkeypatch):
    """Pieces of one row, of a few rows, and of all rows."""
    monkeypatch.setattr(products, "PIECE", request.param)


@given(rows=st.integers(1, 50), width=st.integers(1, 50), piece=st.integers(1, 400))
def test_pieces_cover_every_row_once_and_are_no_larger_than_the_cache(rows, width, piece):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(products, "PIECE", piece)
        parts = [range(rows)[part] for part in products.pieces(rows, width)]
    assert [row for part in parts for row in part] == list(range(rows))
    assert max(map(len, parts)) * width <= 1.5 * piece + width
    assert len(parts) <= rows * width / piece + 1


@pytest.mark.parametrize("form", ops.GELU_FORMS)
@pytest.mark.parametrize("gated", [False, True])
def test_gelu_and_its_slope_are_those_of_the_operation(any_pieces, form, gated):
    rng = np.random.default_rng(0)
    h, dg = 3 * rng.normal(size=(7, 12)), rng.normal(size=(7, 6 if gated else 12))
    forward, backward = (ops.gate, ops.gate_backward) if gated else (ops.gelu, ops.gelu_backward)
    y, cache = forward(h, form)
    g, slope = gelu_and_slope(h.copy(), form, gated)
    assert distance(g, y) < 1e-14
    assert distance(twice_gelu(h.copy(), form, gated), 2 * y) < 1e-14
    sums, expected = np.ones(12), backward(dg, cache)
    assert distance(gelu_backward(dg, slope, sums), expected) < 1e-14
    assert distance(sums, 1 + expected.sum(axis=0)) < 1e-14


def test_the_slope_of_gelu_is_a_number_where_the_cube_overflows():
    x = np.array([[-1e15, 1e15]], "float32")
    with np.errstate(over="ignore"):
        g, slope = gelu_and_slope(x.copy(), "tanh")
    np.testing.assert_array_equal(g, [[0, x[0, 1]]])
    np.testing.assert_array_equal(slope, [[0, 1]])


def test_normalising_is_a_layer_norm_without_gain_and_offset(any_pieces):
    rng = np.random.default_rng(0)
    x, dx = rng.normal(size=(9, 6)), rng.normal(size=(9, 6))
    expected, cache = ops.layer_norm(x, np.ones(6), np.zeros(6), 1e-6)
    n, r = normalise(x, 1e-6)
    assert distance(n, expected) < 1e-14
    g = rng.normal(size=(9, 6))
    g -= g.mean(axis=1, keepdims=True)
    wanted = dx + ops.layer_norm_backward(g, cache)[0]
    add_normalise_backward(dx, g, n, r)
    assert distance(dx, wanted) < 1e-14


def test_a_bias_is_added_to_the_rows_before_they_are_normalised(any_pieces):
    x, bias = np.random.default_rng(0).normal(size=(9, 6)), np.array([3.0, -1, 0, 1, 2, -5])
    moved = x.copy()
    n, _ = normalise(moved, 1e-6, bias)
    assert distance(moved, x + bias) == 0
    assert distance(n, normalise(moved, 1e-6)[0]) < 1e-14


def test_the_layer_norm_of_inference_is_the_operation(any_pieces):
    rng = np.random.default_rng(0)
    x, (gain, offset, bias) = rng.normal(size=(9, 6)), rng.normal(size=(3, 6))
    plain, _ = ops.layer_norm(x, gain, offset, 1e-6)
    assert distance(layer_norm(x.copy(), gain, offset, 1e-6), plain) < 1e-14
    moved = x.copy()
    y = layer_norm(moved, gain, offset, 1e-6, bias)
    assert distance(moved, x + bias) == 0
    assert distance(y, ops.layer_norm(x + bias, gain, offset, 1e-6)[0]) < 1e-14


def plain_attention(qkv):
    q, k, v = qkv.transpose(2, 0, 3, 1, 4)
    A, cache = ops.softmax(q @ k.swapaxes(2, 3))
    return A, A @ v, cache


SHARPNESS = pytest.mark.parametrize("size", [1.0, 300.0], ids=["ordinary scores", "scores that overflow"])


@SHARPNESS
def test_attention_is_that_of_the_operation(any_pieces, size):
    rng = np.random.default_rng(0)
    qkv, do = rng.normal(size=(3, 5, 3, 2, 4)), rng.normal(size=(3, 5, 2, 4))  # B N 3 H K
    qkv[:, :, 0] *= size
    with np.errstate(all="raise", under="ignore"):
        A = np.empty((3, 2, 5, 5))
        o = attend(qkv, A)
        assert np.array_equal(attend(qkv), o)
    expected, outputs, cache = plain_attention(qkv)
    assert distance(A, expected) < 1e-13
    assert distance(o, outputs.transpose(0, 2, 1, 3)) < 1e-13

    q, k, v = qkv.transpose(2, 0, 3, 1, 4)
    heads = do.transpose(0, 2, 1, 3)
    dS = ops.softmax_backward(heads @ v.swapaxes(2, 3), cache)
    dqkv = np.empty_like(qkv)
    dq, dk, dv = dqkv.transpose(2, 0, 3, 1, 4)
    dq[...] = dS @ k
    dk[...] = dS.swapaxes(2, 3) @ q
    dv[...] = expected.swapaxes(2, 3) @ heads
    assert distance(attend_backward(do, qkv, o, A), dqkv) < 1e-12


@pytest.mark.parametrize("score", [-15.0, 0.0, 15.0])
def test_attention_in_float16_is_a_number_without_a_warning(score):
    qkv = np.random.default_rng(0).normal(size=(1, 5, 3, 1, 1)).astype("float16")
    qkv[:, :, 0], qkv[:, :, 1] = 1, score
    A = np.empty((1, 1, 5, 5), "float16")
    with np.errstate(all="raise", under="ignore"):
        o = attend(qkv, A)
    np.testing.assert_allclose(A, 0.2, rtol=1e-3)
    np.testing.assert_allclose(o[0, :, 0, 0], qkv[0, :, 2, 0, 0].mean(), atol=2e-3)


def test_a_scale_is_that_of_the_queries(any_pieces):
    qkv = np.random.default_rng(0).normal(size=(3, 5, 3, 2, 4))
    n, weight, bias, _ = arrays_of_last_attention()
    found = attend(qkv, scale=0.3), last_attention(n, weight, bias, heads=2, scale=0.3)[0]
    qkv[:, :, 0] *= 0.3
    weight[:, :8] *= 0.3
    for scaled, plain in zip(found, (attend(qkv), last_attention(n, weight, 0.3 * bias, 2)[0]), strict=True):
        assert distance(scaled, plain) < 1e-14


def arrays_of_last_attention(size=1.0):
    """Tokens, folded weight and bias for 3 images of 5 tokens, with 2 heads of width 4."""
    rng = np.random.default_rng(0)
    n, weight, bias = rng.normal(size=(3, 5, 8)), rng.normal(size=(8, 24)) / 3, np.zeros(24)
    bias[:8] = rng.normal(size=8)
    weight[:, :8] *= size
    return n, weight, bias, rng


@SHARPNESS
def test_the_last_attention_is_the_first_row_of_the_whole(size):
    n, weight, bias, rng = arrays_of_last_attention(size)
    with np.errstate(all="raise", under="ignore"):
        o, kept = last_attention(n, weight, bias, heads=2)
    whole, cache = attention.attention(n, weight, bias, heads=2)
    assert o.shape == (3, 8)
    assert distance(o, whole[:, 0]) < 1e-13

    do = np.zeros_like(whole)
    do[:, 0] = rng.normal(size=(3, 8))
    grads, expected = [[np.ones_like(weight), np.ones(8)] for _ in range(2)]
    dn = last_attention_backward(do[:, 0], n, kept, weight, *grads)
    wanted = attention.attention_backward(do, n, cache, weight, *expected, dk_bias=np.zeros(8))
    for mine, plain in zip([dn, *grads], [wanted, *expected], strict=True):
        assert distance(mine, plain) < 1e-12


def test_gradients_of_the_last_attention():
    n, weight, bias, rng = arrays_of_last_attention()
    do = rng.normal(size=(3, 8))
    _, kept = last_attention(n, weight, bias, heads=2)
    dweight, dq_bias = np.zeros_like(weight), np.zeros(8)
    dn = last_attention_backward(do, n, kept, weight, dweight, dq_bias)

    def loss():
        return np.vdot(last_attention(n, weight, bias, heads=2)[0], do)

    for x, dx in ((n, dn), (weight, dweight), (bias[:8], dq_bias)):
        assert distance(dx, numerical_gradient(loss, x)) < 1e-6


@given(B=st.integers(1, 5), H=st.integers(1, 5), N=st.integers(1, 6), piece=st.integers(1, 400))
def test_every_head_of_every_image_is_computed_once_and_few_at_a_time(B, H, N, piece):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(products, "PIECE", piece)
        count = np.zeros((B, H), dtype=int)
        for some in attention._some_heads((B, H, N)):
            count[some] += 1
            images, heads = count[some].shape
            assert images * heads * N * N <= 6 * piece + images * N * N
    assert (count == 1).all()


@given(
    shape=st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(1, 9)),
    views=st.tuples(st.booleans(), st.booleans(), st.booleans()),
    scale=st.sampled_from([1.0, 0.5]),
    dtype=st.sampled_from(["float32", "float64", "float16"]),
    seed=seeds(),
)
def test_a_product_is_added_whatever_the_strides(shape, views, scale, dtype, seed):
    (I, K, J), rng = shape, np.random.default_rng(seed)

    def array(rows, columns, transposed):
        whole = rng.integers(-9, 9, (columns, 2 * rows) if transposed else (rows, 2 * columns)).astype(dtype)
        return whole[:, :rows].T if transposed else whole[:, :columns]

    a, b = array(I, K, views[0]), array(K, J, views[1])
    c = np.ones((J, I), dtype=dtype).T if views[2] else np.ones((I, J), dtype=dtype)
    add_product(c, a, b, scale)
    product = a.astype("float64") @ b.astype("float64")
    assert np.array_equal(c, 1 + scale * product)  # whole numbers and halves: exact
    assert np.array_equal(product_plus_bias(a, b, np.arange(J, dtype=dtype)), np.arange(J) + product)


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[:, ::2],
        lambda x: x[::-1, :4],
        lambda x: x[:, 3::-1],
        lambda x: np.broadcast_to(x[0, :4], (4, 4)),
        lambda x: np.lib.stride_tricks.sliding_window_view(x[0, :7], 4),
        lambda x: np.ascontiguousarray(x[:, :1]).T,
        lambda x: x[:1, :4].T,
    ],
    ids=[
        "every other",
        "upwards",
        "leftwards",
        "one row again and again",
        "windows",
        "thin",
        "thin, upright",
    ],
)
def test_an_array_that_blas_cannot_read_is_multiplied_too(view):
    x = view(np.arange(32.0).reshape(4, 8))
    for a, b in (
        (x, np.arange(2.0 * x.shape[1]).reshape(-1, 2)),
        (np.arange(2.0 * len(x)).reshape(2, -1), x),
    ):
        c = np.zeros((len(a), b.shape[1]))
        add_product(c, a, b)
        assert np.array_equal(c, a @ b)


def test_without_the_function_of_blas_the_sum_is_the_same(monkeypatch):
    monkeypatch.setattr(products, "_gemm", lambda dtype: None)
    a, b, c = np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(3, 2), np.ones((2, 2))
    add_product(c, a, b, 0.5)
    assert np.array_equal(c, 1 + 0.5 * (a @ b))


@pytest.mark.parametrize(
    "c, a, b",
    [((2, 2), (2, 3), (2, 2)), ((2, 3), (2, 3), (3, 2)), ((3, 2), (2, 3), (3, 2))],
    ids=["inner sizes", "columns", "rows"],
)
def test_shapes_that_do_not_match_never_reach_blas(c, a, b):
    with pytest.raises(ValueError, match="cannot be added to"):
        add_product(np.zeros(c), np.zeros(a), np.zeros(b))


def test_dtypes_that_do_not_match_never_reach_blas():
    with pytest.raises(ValueError, match="float32"):
        add_product(np.zeros((2, 2)), np.zeros((2, 2)), np.zeros((2, 2), dtype="float32"))


def test_folding_leaves_the_parameters_alone_and_shares_what_it_does_not_change():
    config = tiny_config()
    params = random_params(config, np.random.default_rng(0))
    before = params.flat.copy()
    folded = fold(config, params, 0)
    assert np.array_equal(params.flat, before)
    assert folded.fc2 is params["blocks.0.mlp.fc2.weight"]
    np.testing.assert_allclose(folded.qkv.mean(axis=0), 0, atol=1e-15)


def test_folded_parameters_give_what_the_plain_ones_give():
    """Equations 1 to 5, for tokens that are normalised, and attention whose rows sum to 1."""
    config, rng = tiny_config(), np.random.default_rng(0)
    params = random_params(config, rng)
    folded, D = fold(config, params, 0), config.width
    n = rng.normal(size=(7, D))
    n -= n.mean(axis=1, keepdims=True)
    (gain1, offset1), (gain2, offset2) = params.group("blocks.0.norm1"), params.group("blocks.0.norm2")
    qkv, qkv_bias, out, out_bias, fc1, fc1_bias, *_ = (
        *params.group("blocks.0.attn"),
        *params.group("blocks.0.mlp"),
    )
    plain = (n * gain1 + offset1) @ qkv + qkv_bias
    mine = n @ folded.qkv + folded.qkv_bias
    scale = 1 / np.sqrt(D // config.heads)
    assert distance(mine[:, :D], scale * plain[:, :D]) < 1e-13
    for part in (slice(D, 2 * D), slice(2 * D, None)):  # but for a constant: keys, values
        assert distance(mine[:, part] - mine[:1, part], plain[:, part] - plain[:1, part]) < 1e-13
    A = rng.dirichlet(np.ones(7), size=7)
    wanted = A @ plain[:, 2 * D :] @ out + out_bias
    assert distance(A @ mine[:, 2 * D :] @ folded.out + folded.out_bias, wanted) < 1e-13
    assert distance(n @ folded.fc1 + folded.fc1_bias, (n * gain2 + offset2) @ fc1 + fc1_bias) < 1e-13


def test_unfolded_gradients_are_those_of_the_parameters():
    """Equations 7 and 8, for any loss that is linear in the folded parameters."""
    config, rng = tiny_config(), np.random.default_rng(0)
    params, D = random_params(config, rng), config.width
    upstream = Folded(*(rng.normal(size=each.shape) for each in fold(config, params, 1)))
    for matrix in (upstream.qkv, upstream.fc1):
        matrix -= matrix.mean(axis=0)  # as n^T dy has it, since n has mean 0
    upstream.qkv_bias[D:] = 0  # these offsets are always 0

    def loss():
        return sum(np.vdot(x, dx) for x, dx in zip(fold(config, params, 1), upstream, strict=True))

    grads = params.zeros_like()
    places = (*grads.group("blocks.1.attn"), *grads.group("blocks.1.mlp"))
    for place, dx in zip(places, upstream, strict=True):
        place[...] = dx
    places[1][...] = 0
    grads["blocks.1.norm1.weight"] = upstream.qkv_bias[:D]
    unfold_gradients(config, params, 1, grads)
    for name in params:
        if name.startswith("blocks.1."):
            assert distance(grads[name], numerical_gradient(loss, params[name])) < 1e-6, name


def test_an_mlp_of_width_1_has_the_gradients_of_the_reference(monkeypatch):
    """Its matrices are so thin that BLAS can be told wrongly how to read them."""
    monkeypatch.setattr(CpuEngine, "least_tokens_to_fold", 0)
    config, rng = tiny_config(mlp_width=1), np.random.default_rng(0)
    params, (images, labels) = random_params(config, rng), random_batch(config, 5, rng)
    engines = ReferenceEngine(config, params), CpuEngine(config, params, threads=2, micro_batch=2)
    for engine in engines:
        engine.loss_and_grads(images, labels)
    assert distance(engines[1].grads.flat, engines[0].grads.flat) < 1e-11


@pytest.mark.parametrize(
    "changes, unknown",
    [
        ({}, ()),
        ({"drop_path": 0.5}, ()),
        ({"position": "none"}, ()),
        ({"layer_scale": 0.1, "registers": 2, "pre_norm": True, "gelu": "relu"}, ()),
        ({"qkv_bias": "qv", "gated": True, "rotary": DINOV3}, ()),
        ({"merge_after": 1}, ()),
        ({"dropout": 0.1}, {"dropout"}),
        ({"attention_dropout": 0.1}, {"attention_dropout"}),
        ({"position_at": "blocks"}, {"position_at"}),
        ({"position": "relative"}, {"position_at"}),
        ({"qk_norm": True}, {"qk_norm"}),
        ({"rotary": replace(DINOV3, learned=True)}, {"rotary"}),
    ],
)
def test_what_the_blocks_of_the_engine_cannot_compute(changes, unknown):
    assert Blocks.unsupported_fields(tiny_config(**changes)) == set(unknown)


def test_few_tokens_are_computed_without_folding(monkeypatch):
    """Folding a large model would take longer than to learn from one image, or to classify a few."""
    config, rng = tiny_config(), np.random.default_rng(0)
    params, (images, labels) = random_params(config, rng), random_batch(config, 7, rng)
    engine, folds, tokens = CpuEngine(config, params, threads=1), [], 7 * config.tokens
    monkeypatch.setattr(engine_module, "fold", lambda *args: folds.append(args) or fold(*args))
    for enough in (True, False):
        engine.least_tokens_to_fold = tokens + (not enough)
        engine.least_tokens_to_infer_folded = tokens / config.width + (not enough)
        for compute in (engine.logits, engine.features, lambda x: engine.loss_and_grads(x, labels)):
            folds.clear()
            compute(images)
            assert len(folds) == config.layers * enough


@pytest.mark.parametrize("size", [1e-3, 1.0, 50.0], ids=["flat", "ordinary", "sharp"])
def test_attention_of_any_sharpness_agrees_with_the_reference(size):
    """With sharp attention the scores reach thousands, and exp overflows unless the largest is subtracted."""
    config, rng = tiny_config(), np.random.default_rng(0)
    params, (images, labels) = random_params(config, rng), random_batch(config, 5, rng)
    for i in range(config.layers):
        params[f"blocks.{i}.attn.qkv.weight"][...] *= size
    engines = ReferenceEngine(config, params), CpuEngine(config, params, threads=2, micro_batch=2)
    losses = [float(engine.loss_and_grads(images, labels)) for engine in engines]
    assert losses[0] == pytest.approx(losses[1], rel=1e-12)
    assert distance(engines[1].grads.flat, engines[0].grads.flat) < 1e-11
    assert distance(engines[1].logits(images), engines[0].logits(images)) < 1e-11


def test_a_row_of_very_negative_scores_has_a_softmax():
    q, keys = np.ones((1, 2, 1), np.float32), np.float32([[[-200, -201, -300]]])
    A = np.empty((1, 2, 3), np.float32)
    attention.softmax_of_product(q, keys, A)
    np.testing.assert_allclose(A[0], [[1 / (1 + np.exp(-1)), 1 / (1 + np.e), 0]] * 2, rtol=1e-5, atol=1e-12)
