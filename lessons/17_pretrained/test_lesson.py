"""Checks of lesson 17."""

import importlib

import numpy as np
import pytest

from lessons.referee import assert_same, assert_trust, assert_untouched
from tinyvit.ops import patchify
from tinyvit.ops.attention import attention

SUSPECTS = importlib.import_module("lessons.17_pretrained.suspects")

D, H, K = 6, 3, 2
NAMES = ("qkv_weight", "qkv_bias", "out_weight", "out_bias")


def official(seed=0, dtype="float64"):
    """query, key, value and out of a small official layer."""
    rng = np.random.default_rng(seed)
    shapes = [((D, H, K), (H, K))] * 3 + [((H, K, D), (D,))]
    return [tuple(rng.normal(size=shape).astype(dtype) for shape in pair) for pair in shapes]


def converted(impl, layer):
    arrays = impl.attention_from_official(*layer)
    assert isinstance(arrays, tuple | list), f"the result is a {type(arrays).__name__}, expected four arrays"
    assert len(arrays) == 4, f"the result has {len(arrays)} arrays, expected 4: {', '.join(NAMES)}"
    return arrays


@pytest.mark.hint("join the kernels, (D, D) each, along axis 1; the biases flat, (D,) each, end to end")
def test_every_number_of_q_k_and_v_is_in_its_column(impl):
    layer = official()
    qkv_weight, qkv_bias, _, _ = converted(impl, layer)
    weight, bias = np.empty((D, 3 * D)), np.empty(3 * D)
    for which, (kernel, offset) in enumerate(layer[:3]):
        for h, k in np.ndindex(H, K):
            column = which * D + h * K + k
            weight[:, column], bias[column] = kernel[:, h, k], offset[h, k]
    assert_same(qkv_weight, weight, "qkv_weight")
    assert_same(qkv_bias, bias, "qkv_bias")


@pytest.mark.hint("out goes from (head, K) to D: its first two axes become the rows, nothing is transposed")
def test_every_number_of_out_is_in_its_row(impl):
    layer = official(1)
    _, _, out_weight, out_bias = converted(impl, layer)
    weight = np.empty((D, D))
    for h, k in np.ndindex(H, K):
        weight[h * K + k] = layer[3][0][h, k]
    assert_same(out_weight, weight, "out_weight")
    assert_same(out_bias, layer[3][1], "out_bias")


@pytest.mark.hint("the numbers are all there, but not where the layer looks for them: compare with eq. a, b")
def test_the_layer_computes_what_the_official_one_does(impl):
    layer = official(2)
    x = np.random.default_rng(3).normal(size=(2, 4, D))
    q, k, v = (np.einsum("bnd,dhk->bhnk", x, kernel) + bias[:, None] for kernel, bias in layer[:3])
    scores = np.exp(q @ k.swapaxes(-1, -2) / np.sqrt(K))
    heads = scores / scores.sum(axis=-1, keepdims=True) @ v
    expected = np.einsum("bhnk,hkd->bnd", heads, layer[3][0]) + layer[3][1]
    arrays = converted(impl, layer)
    for array, shape, name in zip(arrays, ((D, 3 * D), (3 * D,), (D, D), (D,)), NAMES, strict=True):
        assert np.shape(array) == shape, f"{name} has shape {np.shape(array)}, expected {shape}"
    assert_same(attention(x, *arrays, H)[0], expected, "the output of the converted layer")


@pytest.mark.hint("reshape and np.concatenate keep the dtype; make no array of zeros in another one")
def test_conversion_keeps_float32_and_the_checkpoint(impl):
    layer = official(4, "float32")
    before = [array.copy() for pair in layer for array in pair]
    for array, name in zip(converted(impl, layer), NAMES, strict=True):
        assert array.dtype == np.float32, f"{name} has dtype {array.dtype}, expected float32"
    assert_untouched(before, [array for pair in layer for array in pair])


@pytest.mark.hint("rows are new values: shape (m, n); corners: value i reads at i (n - 1) / (m - 1)")
def test_corners_three_become_five(impl):
    expected = [[1, 0, 0], [0.5, 0.5, 0], [0, 1, 0], [0, 0.5, 0.5], [0, 0, 1]]
    assert_same(impl.resize_matrix(3, 5, "corners"), np.array(expected), "resize_matrix(3, 5, 'corners')")


@pytest.mark.hint(
    "rows are new values: shape (m, n); i reads at (i + 1/2) n / m - 1/2; outside, the outermost goes on"
)
def test_bilinear_two_become_four(impl):
    expected = [[1, 0], [0.75, 0.25], [0.25, 0.75], [0, 1]]
    assert_same(impl.resize_matrix(2, 4, "bilinear"), np.array(expected), "resize_matrix(2, 4, 'bilinear')")


@pytest.mark.hint(
    "work out where to read, t, its floor j and the rest f = t - j; shares 1 - f and f; clip j and j + 1; "
    "with m = 1, corners reads at 0"
)
@pytest.mark.parametrize("method", ["corners", "bilinear"])
def test_a_ramp_is_read_where_the_method_says(impl, method):
    for n, m in ((5, 8), (8, 5), (4, 12), (7, 3), (6, 6), (1, 3), (9, 2), (1, 1)):
        got = impl.resize_matrix(n, m, method)
        name = f"resize_matrix({n}, {m}, {method!r})"
        i = np.arange(m)
        at = i * (n - 1) / max(m - 1, 1) if method == "corners" else (i + 0.5) * n / m - 0.5
        expected = at.clip(0, n - 1)
        assert np.shape(got) == (m, n), f"{name} has shape {np.shape(got)}, expected {(m, n)}"
        assert_same(got.sum(axis=1), np.ones(m), f"the sum of each row of {name}")
        assert_same(got @ np.arange(n, dtype=float), expected, f"{name} times 0, 1, 2, ...")
        bent = np.arange(n, dtype=float) ** 2  # a reader that skips over neighbours is found out here
        assert_same(got @ bent, np.interp(expected, np.arange(n), bent), f"{name} times 0, 1, 4, ...")


@pytest.mark.hint("with m = 1 the corners coincide: read at 0; half-pixel reads in the middle")
def test_a_row_that_becomes_one_value(impl):
    assert_same(
        impl.resize_matrix(4, 1, "corners"), np.array([[1.0, 0, 0, 0]]), "resize_matrix(4, 1, 'corners')"
    )
    expected = np.array([[0, 0.5, 0.5, 0]])
    assert_same(impl.resize_matrix(4, 1, "bilinear"), expected, "resize_matrix(4, 1, 'bilinear')")


@pytest.mark.hint("the shares of value i stand in row i, and no share is negative")
@pytest.mark.parametrize("method", ["corners", "bilinear"])
def test_every_row_has_one_or_two_shares(impl, method):
    for n, m in ((2, 7), (3, 8), (8, 3), (5, 4), (11, 2)):
        got = np.asarray(impl.resize_matrix(n, m, method))
        name = f"resize_matrix({n}, {m}, {method!r})"
        assert got.shape == (m, n), f"{name} has shape {got.shape}, expected {(m, n)}"
        assert got.min() >= -1e-12, f"{name} has a negative share, {got.min():.3g}"
        most = int((got > 1e-12).sum(axis=1).max())
        assert most <= 2, f"a row of {name} has {most} shares that are not 0, expected one or two"


@pytest.mark.hint(
    "check_gradients(lambda x: forward(x, size, method), backward, (images,), rng), for several sizes",
    right="a right backward has errors around 1e-10 for images of normal random numbers",
    resized_back="try a size that differs from the old one",
    always_corners="try both methods",
    one_matrix_for_a_square="try square images, and a new size that is not square",
    border_lost="try 'bilinear' with a larger size",
    smaller_is_a_mean="try a smaller size too",
    one_point_is_the_mean="try a size of one row or one column",
    one_image_only="try more than one image",
    one_channel_only="try more than one channel",
)
def test_trust_resize(impl):
    assert_trust(impl.trust_resize, SUSPECTS.RIGHT, SUSPECTS.WRONG)


MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def embedding(P, C, D, dtype="float64"):
    rng = np.random.default_rng(P + C)
    return rng.normal(size=(P * P * C, D)).astype(dtype), rng.normal(size=D).astype(dtype)


@pytest.mark.puzzle
@pytest.mark.hint(
    "u = (x + 1) / 2: put it into (u - mean) / std, and look at what multiplies x and what does not",
    weight="row r of weight belongs to channel r % C",
    bias="what does not contain x goes through the old weight, and is the same for every image",
)
@pytest.mark.parametrize("P, C", [(2, 3), (3, 1), (2, 4)])
def test_the_same_function_of_the_image(impl, P, C):
    mean, std = np.array((*MEAN, 0.7)[:C]), np.array((*STD, 0.4)[:C])
    weight, bias = embedding(P, C, 5)
    before = [weight.copy(), bias.copy(), mean.copy(), std.copy()]
    u = np.random.default_rng(1).random((2, 3 * P, 2 * P, C))
    theirs = patchify((u - mean) / std, P)[0] @ weight + bias
    result = impl.embedding_for_our_pixels(weight, bias, mean, std)
    assert_untouched(before, [weight, bias, mean, std])
    assert isinstance(result, tuple | list) and len(result) == 2, "expected two arrays: weight and bias"
    new_weight, new_bias = result
    scale = np.tile(0.5 / std, P * P)
    assert_same(new_weight, weight * scale[:, None], "weight")
    assert_same(new_bias, bias + np.tile((0.5 - mean) / std, P * P) @ weight, "bias")
    assert_same(patchify(2 * u - 1, P)[0] @ new_weight + new_bias, theirs, "the embedded patches")


@pytest.mark.puzzle
@pytest.mark.hint("mean and std may be tuples of numbers; the results have the dtypes of weight and bias")
def test_embedding_keeps_float32(impl):
    weight, bias = embedding(4, 3, 5, "float32")
    new_weight, new_bias = impl.embedding_for_our_pixels(weight, bias, MEAN, STD)
    scale, shift = np.tile(0.5 / np.array(STD), 16), np.tile((0.5 - np.array(MEAN)) / STD, 16)
    assert_same(new_weight, (weight * scale[:, None]).astype(np.float32), "weight", 1e-5)
    assert_same(new_bias, (bias + shift @ weight).astype(np.float32), "bias", 1e-5)
