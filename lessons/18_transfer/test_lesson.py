"""Checks of lesson 18."""

import importlib

import numpy as np
import pytest

from lessons.referee import assert_same, assert_trust, assert_untouched

SUSPECTS = importlib.import_module("lessons.18_transfer.suspects")


def problem(n, F, seed=0, dtype="float64"):
    rng = np.random.default_rng(seed)
    return rng.normal(0.3, 1, (n, F)).astype(dtype), rng.normal(size=(n, 4)).astype(dtype)


@pytest.mark.hint(
    "each column by its own mean and std; then one column more, the last, which is 100 in every row"
)
def test_inputs_by_hand(impl):
    features, mean, std = np.array([[3.0, 5.0], [7.0, 5.0]]), np.array([5.0, 5.0]), np.array([2.0, 0.0])
    expected = [[-2 / 2.00001, 0, 100], [2 / 2.00001, 0, 100]]
    assert_same(
        impl.probe_inputs(features, mean, std), np.array(expected), "probe_inputs(features, mean, std)"
    )


@pytest.mark.hint("the mean and std of the training images hold for new ones too: take those that are given")
def test_new_images_by_the_old_mean(impl):
    rng = np.random.default_rng(0)
    mean, std = rng.normal(size=4), rng.random(4) + 0.5
    for n in (1, 5):
        features = rng.normal(2, 3, (n, 4))
        before = [features.copy(), mean.copy(), std.copy()]
        expected = np.column_stack([(features - mean) / (std + 1e-5), np.full(n, 100.0)])
        assert_same(impl.probe_inputs(features, mean, std), expected, f"the inputs of {n} new images")
        assert_untouched(before, [features, mean, std], ("features", "mean", "std"))


@pytest.mark.hint("change the type of the features before anything else", dtype="features.astype(np.float64)")
def test_inputs_are_float64(impl):
    rng = np.random.default_rng(1)
    features = rng.normal(5e7, 1e6, (6, 3)).astype(np.float32)  # so wide that std + 1e-5 is std in float32
    mean, std = features.mean(axis=0), features.std(axis=0)
    expected = (features.astype(np.float64) - mean) / std.astype(np.float64)
    got = impl.probe_inputs(features, mean, std)
    assert_same(got, np.column_stack([expected, np.full(6, 100.0)]), "the inputs of float32 features", 1e-6)
    assert_same(got[:, :3], expected, "the standardised columns of float32 features")


@pytest.mark.hint("W = 11 / (5 + 6): the ridge is added once, whatever n is")
def test_one_feature_by_hand(impl):
    X, Y = np.array([[1.0], [2.0]]), np.array([[3.0], [4.0]])
    assert_same(
        impl.ridge_weights(X, Y, 6.0), np.array([[1.0]]), "W for X = [[1], [2]], Y = [[3], [4]], ridge 6"
    )


@pytest.mark.hint("shares 0.1 and -0.1 of the two images")
def test_two_images_by_hand(impl):
    X, Y = np.array([[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0]]), np.array([[0.5], [-0.5]])
    expected = np.array([[0.2], [-0.2], [0.0]])
    assert_same(impl.ridge_weights(X, Y, 1.0), expected, "W of the two images of the text")


@pytest.mark.hint("the ridge goes on the diagonal: ridge * np.eye(F), or of n")
@pytest.mark.parametrize(("n", "F"), [(12, 5), (5, 5), (5, 12), (1, 3), (3, 1), (6, 5), (5, 6)])
@pytest.mark.parametrize("ridge", [0.7, 1024.0])
def test_the_gradient_is_zero_at_the_answer(impl, n, F, ridge):
    X, Y = problem(n, F)
    expected = np.linalg.solve(X.T @ X + ridge * np.eye(F), X.T @ Y)
    W = impl.ridge_weights(X, Y, ridge)
    assert_same(W, expected, f"W for {n} images and {F} features, ridge {ridge}")
    assert_same(X.T @ (X @ W - Y) + ridge * W, np.zeros((F, 4)), "the gradient at W")


@pytest.mark.hint("with n < F take the n x n system of the shares, otherwise the F x F system of the weights")
def test_the_smaller_system_is_solved(impl, monkeypatch):
    sides = noted_sides(monkeypatch)
    for n, F in ((3, 40), (40, 3)):
        sides.clear()
        impl.ridge_weights(*problem(n, F), 1.0)
        assert max(sides, default=0) <= 3, (
            f"for {n} images and {F} features a {max(sides)} x {max(sides)} system was solved, 3 x 3 will do"
        )


def noted_sides(monkeypatch):
    """A list that the side of every system is appended to that numpy.linalg solves."""
    sides = []
    for name in ("solve", "inv", "eigh", "eig", "cholesky", "pinv", "lstsq", "svd", "qr"):
        original = getattr(np.linalg, name)

        def noted(matrix, *others, name=name, original=original, **named):
            is_full = others[0] if others else named.get("full_matrices", True)
            is_thin = name == "svd" and not is_full  # then the shorter side is that of the system
            side = (min if is_thin else max)(np.shape(matrix))
            sides.extend([side] * int(np.prod(np.shape(matrix)[:-2])))
            return original(matrix, *others, **named)

        monkeypatch.setattr(np.linalg, name, noted)
    return sides


@pytest.mark.hint("float32 in, float32 out: np.eye(n, dtype=X.dtype); and no += on an argument")
def test_ridge_keeps_float32_and_its_inputs(impl):
    for n, F in ((6, 4), (4, 6)):
        X, Y = problem(n, F, 1, "float32")
        before = [X.copy(), Y.copy()]
        W = impl.ridge_weights(X, Y, 0.5)
        wide = X.astype("float64")
        exact = np.linalg.solve(wide.T @ wide + 0.5 * np.eye(F), wide.T @ Y)
        assert_same(W, exact.astype("float32"), "W in float32", 1e-4)
        assert_untouched(before, [X, Y], ("X", "Y"))


@pytest.mark.hint(
    "X.T @ (X @ W - Y) + ridge * W has to be zero, for several sizes and several penalties",
    right="in float64 the gradient at a right W is around 1e-12, not exactly 0",
    no_ridge_when_few="try fewer images than features",
    no_ridge_when_many="try more images than features",
    ridge_of_one="try a ridge that is not 1",
    half_a_ridge="the gradient of ridge |W|^2 has a factor 2, as that of the squares has",
    offset_without_ridge="look at the last row of the gradient, too",
    one_class="try more than one class",
    a_few_steps="try a small ridge, or a column far larger than the others: on an easy bowl these steps do "
    "arrive; and be strict",
)
def test_trust_ridge(impl):
    assert_trust(impl.trust_ridge, SUSPECTS.RIGHT, SUSPECTS.WRONG, "solver")


@pytest.mark.puzzle
@pytest.mark.hint("fit to the others and look: what does the answer have to do with the inverse's diagonal?")
@pytest.mark.parametrize(("n", "F"), [(5, 9), (9, 5), (2, 3), (6, 1)])
@pytest.mark.parametrize("ridge", [0.5, 20.0])
def test_each_image_by_a_probe_that_has_not_seen_it(impl, n, F, ridge):
    X, Y = problem(n, F, 2)
    before = [X.copy(), Y.copy()]
    expected = np.empty((n, 4))
    for i in range(n):
        others = np.arange(n) != i
        matrix = X[others].T @ X[others] + ridge * np.eye(F)
        expected[i] = X[i] @ np.linalg.solve(matrix, X[others].T @ Y[others])
    got = impl.leave_one_out(X, Y, ridge)
    assert_same(got, expected, f"the scores of {n} images, {F} features, ridge {ridge}", 1e-8)
    assert_untouched(before, [X, Y], ("X", "Y"))


@pytest.mark.puzzle
@pytest.mark.hint("all images together once: what it takes is in the inverse of that one matrix")
def test_one_matrix_for_all_images(impl, monkeypatch):
    for n, F in ((8, 20), (20, 8)):
        sides = noted_sides(monkeypatch)
        impl.leave_one_out(*problem(n, F), 1.0)
        assert 1 <= len(sides) <= 2, (
            f"numpy.linalg was given {len(sides)} matrices, expected one for {n} images"
        )
        monkeypatch.undo()
