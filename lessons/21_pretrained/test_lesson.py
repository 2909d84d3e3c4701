"""Checks of lesson 21."""

import numpy as np
import pytest

from lessons.referee import assert_same, assert_untouched
from tinyvit.ops.attention import attention

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


@pytest.mark.hint("the numbers are all there, but not where the layer looks for them: compare with eq. 1, 2")
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
    "work out the place, its floor j and the rest f = place - j; shares 1 - f and f; clip both j"
)
@pytest.mark.parametrize("method", ["corners", "bilinear"])
def test_a_ramp_is_read_where_the_method_says(impl, method):
    for n, m in ((5, 8), (8, 5), (4, 12), (7, 3), (6, 6), (1, 3)):
        got = impl.resize_matrix(n, m, method)
        name = f"resize_matrix({n}, {m}, {method!r})"
        i = np.arange(m)
        at = i * (n - 1) / (m - 1) if method == "corners" else (i + 0.5) * n / m - 0.5
        expected = at.clip(0, n - 1)
        assert np.shape(got) == (m, n), f"{name} has shape {np.shape(got)}, expected {(m, n)}"
        assert_same(got.sum(axis=1), np.ones(m), f"the sum of each row of {name}")
        assert_same(got @ np.arange(n, dtype=float), expected, f"{name} times 0, 1, 2, ...")
        bent = np.arange(n, dtype=float) ** 2  # a reader that skips over neighbours is found out here
        assert_same(got @ bent, np.interp(expected, np.arange(n), bent), f"{name} times 0, 1, 4, ...")


@pytest.mark.hint("with m = 1 the corners coincide: read at 0")
def test_one_place_reads_at_the_first_corner(impl):
    assert_same(impl.resize_matrix(4, 1, "corners"), np.array([[1.0, 0, 0, 0]]), "resize_matrix(4, 1)")


def problem(n, F, seed=0, dtype="float64"):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, F)).astype(dtype), rng.normal(size=(n, 4)).astype(dtype)


@pytest.mark.hint("W = 11 / (5 + 6): the ridge is added once, whatever n is")
def test_one_feature_by_hand(impl):
    X, Y = np.array([[1.0], [2.0]]), np.array([[3.0], [4.0]])
    assert_same(
        impl.ridge_weights(X, Y, 6.0), np.array([[1.0]]), "W for X = [[1], [2]], Y = [[3], [4]], ridge 6"
    )


@pytest.mark.hint("few shot 4 and few shot 5; the ridge goes on the diagonal: ridge * np.eye(F), or of n")
@pytest.mark.parametrize(("n", "F"), [(12, 5), (5, 5), (5, 12), (1, 3)])
def test_the_gradient_is_zero_at_the_answer(impl, n, F):
    X, Y = problem(n, F)
    expected = np.linalg.solve(X.T @ X + 0.7 * np.eye(F), X.T @ Y)
    W = impl.ridge_weights(X, Y, 0.7)
    assert_same(W, expected, f"W for {n} images and {F} features")
    assert_same(X.T @ (X @ W - Y) + 0.7 * W, np.zeros((F, 4)), "the gradient at W")


@pytest.mark.hint("n < F: few shot 5, X @ X.T is n x n; otherwise few shot 4, X.T @ X is F x F")
def test_the_smaller_system_is_solved(impl, monkeypatch):
    sides = []
    for name in ("solve", "inv", "eigh", "eig", "cholesky", "pinv"):
        whole = getattr(np.linalg, name)

        def noted(matrix, *others, whole=whole, **named):
            sides.append(max(np.shape(matrix)))
            return whole(matrix, *others, **named)

        monkeypatch.setattr(np.linalg, name, noted)
    for n, F in ((3, 40), (40, 3)):
        sides.clear()
        impl.ridge_weights(*problem(n, F), 1.0)
        assert max(sides, default=0) <= 3, (
            f"for {n} images and {F} features a {max(sides)} x {max(sides)} system was solved, 3 x 3 will do"
        )


@pytest.mark.hint("float32 in, float32 out: np.eye(n, dtype=X.dtype); and no += on an argument")
def test_ridge_keeps_float32_and_its_inputs(impl):
    for n, F in ((6, 4), (4, 6)):
        X, Y = problem(n, F, 1, "float32")
        before = [X.copy(), Y.copy()]
        W = impl.ridge_weights(X, Y, 0.5)
        wide = X.astype("float64")
        exact = np.linalg.solve(wide.T @ wide + 0.5 * np.eye(F), wide.T @ Y)
        assert_same(W, exact.astype("float32"), "W in float32", 1e-4)
        assert_untouched(before, [X, Y])
