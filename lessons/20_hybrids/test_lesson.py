"""Checks of lesson 20."""

import functools
import itertools

import numpy as np
import pytest

from lessons.referee import assert_operation, assert_same
from lessons.referee.gradients import named, outcome
from tinyvit import ops

ONE_KERNEL = ((3, 3, 2, 4), (1, 1, 5, 3), (2, 2, 3, 6), (3, 3, 4, 1), (7, 7, 1, 2))


# GroupNorm


def feature_maps(shape, seed=0):
    """Feature maps far from mean 0 and variance 1, gains that are not 1, offsets that are not 0."""
    rng = np.random.default_rng(seed)
    C = shape[-1]
    return {"x": rng.normal(3, 2, shape), "weight": rng.normal(1, 0.5, C), "bias": rng.normal(size=C)}


def normalise_groups(groups, eps=1e-6):
    return lambda x, weight, bias: ops.group_norm(x, weight, bias, groups, eps)


@pytest.mark.hint(
    "which mean is taken over the wrong numbers, or which sum is not complete?",
    dx="both means, of g = dy * weight and of g * n, run over one image and the channels of one group",
    dweight="n, before the gain, times dy, summed over every axis but the channels",
    dbias="dy summed over every axis but the channels",
    shape="dx has the shape of dy; dweight and dbias have the shape (C,)",
    dtype="np.ones and np.zeros are float64 unless you say dtype=dy.dtype",
    cache="dx *= r is fine if dx is new; n *= ... would spoil what the forward kept",
)
@pytest.mark.parametrize(
    ("shape", "groups"),
    [((2, 3, 5, 6), 2), ((3, 4, 2, 6), 3), ((2, 3, 4, 5), 1), ((2, 3, 2, 5), 5), ((1, 1, 1, 8), 2)],
    ids=str,
)
def test_group_norm_backward(impl, shape, groups):
    label = f"x {shape} in {groups} groups"
    assert_operation(normalise_groups(groups), impl.group_norm_backward, {label: feature_maps(shape, seed=1)})


@pytest.mark.hint("r and n come from the cache; a gain may be 0, so n cannot be found from y")
def test_group_norm_backward_with_a_large_eps_and_a_gain_of_zero(impl):
    arrays = feature_maps((2, 3, 4, 6), seed=2)
    arrays["weight"][[1, 4]] = 0.0, -1.0
    assert_operation(normalise_groups(2, eps=2.0), impl.group_norm_backward, {"eps = 2": arrays})


@pytest.mark.hint(
    "a group cannot see a shift of all its numbers: over each group of an image, dx adds up to 0"
)
def test_what_a_group_cannot_see(impl):
    arrays = feature_maps((3, 4, 5, 6), seed=3)
    _, cache = ops.group_norm(*arrays.values(), 2)
    dy = np.random.default_rng(4).normal(size=(3, 4, 5, 6))
    dx = named(impl.group_norm_backward(dy, cache), arrays)["x"]
    sums = dx.reshape(3, 20, 2, 3).sum(axis=(1, 3))
    assert_same(sums, np.zeros((3, 2)), "the sum of dx over each group", 1e-10)


@pytest.mark.hint("no image may influence the dx of another: that is the point of GroupNorm")
def test_images_by_themselves(impl):
    arrays = feature_maps((3, 2, 4, 6), seed=5)
    dy = np.random.default_rng(6).normal(size=(3, 2, 4, 6))

    def backward_of(images):
        x, weight, bias = arrays.values()
        _, cache = ops.group_norm(x[images], weight, bias, 3)
        return named(impl.group_norm_backward(dy[images], cache), arrays)

    together, alone = backward_of(slice(3)), [backward_of(slice(b, b + 1)) for b in range(3)]
    assert_same(together["x"], np.concatenate([each["x"] for each in alone]), "dx of three images")
    for name in ("weight", "bias"):
        assert_same(together[name], sum(each[name] for each in alone), f"d{name} of three images")


# Weight standardisation


def kernel(shape, seed=0):
    """Weights whose mean is not 0 and whose size differs from channel to channel."""
    rng = np.random.default_rng(seed)
    return rng.normal(0.5, 1, shape) * rng.uniform(0.5, 3, shape[-1]) + rng.normal(size=shape[-1])


def standardised(w, eps=1e-5):
    """Channel by channel, in float64."""
    y = np.empty(w.shape)
    for o in range(w.shape[-1]):
        numbers = w[..., o].astype(np.float64)
        y[..., o] = (numbers - numbers.mean()) / (numbers.std() + eps)
    return y


@pytest.mark.hint(
    "mean and standard deviation are those of one output channel: over three axes; divide by m, not by m - 1"
)
@pytest.mark.parametrize("shape", ONE_KERNEL, ids=str)
def test_standardised_values(impl, shape):
    w = kernel(shape)
    large = functools.partial(standardised, eps=0.5)
    y = outcome(impl.weight_standardisation(w, eps=0.5))[0]
    assert_same(y, large(w), "y with eps = 0.5", of=large, inputs={"w": w})
    y = outcome(impl.weight_standardisation(w))[0]
    assert_same(y, standardised(w), "y without an eps, which is then 1e-5,", of=standardised, inputs={"w": w})


@pytest.mark.hint("eps is added to the standard deviation, after the root; small kernels show it")
def test_small_kernels(impl):
    w = 1e-5 * kernel((3, 3, 2, 4), seed=1)
    assert_same(outcome(impl.weight_standardisation(w))[0], standardised(w), "y of weights around 1e-5")
    y = outcome(impl.weight_standardisation(np.full((2, 2, 3, 5), 0.1)))[0]
    assert_same(y, np.zeros((2, 2, 3, 5)), "equal weights")


@pytest.mark.hint("a factor of the whole kernel must cancel: is everything divided by the deviation?")
def test_seven_times_the_kernel(impl):
    w = kernel((3, 3, 4, 2), seed=2)
    once, seven = (outcome(impl.weight_standardisation(factor * w, eps=1e-12))[0] for factor in (1, 7))
    assert_same(seven, once, "y of 7 w", 1e-9)


@pytest.mark.hint("subtract the mean first, then square: the difference of two large squares loses digits")
def test_float32_kernels_with_a_large_mean(impl):
    w = (kernel((3, 3, 4, 2), seed=3) + 1e3).astype(np.float32)
    y = outcome(impl.weight_standardisation(w))[0]
    assert_same(y, standardised(w).astype(np.float32), "y of weights around 1,000", 3e-3)


@pytest.mark.hint(
    "three paths: directly, through the mean, through the deviation; is a factor wrong?",
    dw="dy minus its mean, minus u times the mean of dy y, all divided by s + eps; u is c / s, not y",
    dtype="every array on the way has the dtype of w",
    cache="the backward must leave the cache as it is",
)
@pytest.mark.parametrize("eps", [1e-5, 0.5])
@pytest.mark.parametrize("shape", [(3, 3, 2, 4), (1, 1, 5, 3), (2, 2, 3, 5), (3, 3, 4, 1)], ids=str)
def test_standardisation_backward(impl, shape, eps):
    assert_operation(
        lambda w: impl.weight_standardisation(w, eps),
        impl.weight_standardisation_backward,
        {f"w {shape}, eps = {eps}": {"w": kernel(shape, seed=4)}},
    )


@pytest.mark.hint("y does not see a shift or a stretch of a channel: dw is orthogonal to the ones and to w")
def test_the_gradient_is_orthogonal_to_the_kernel(impl):
    w = kernel((3, 3, 2, 4), seed=5)
    _, cache = outcome(impl.weight_standardisation(w, 1e-12))
    dy = np.random.default_rng(6).normal(size=w.shape)
    dw = named(impl.weight_standardisation_backward(dy, cache), {"w": w})["w"]
    assert_same(dw.sum(axis=(0, 1, 2)), np.zeros(4), "the sum of dw over each output channel", 1e-9)
    assert_same((dw * w).sum(axis=(0, 1, 2)), np.zeros(4), "the sum of dw w over each output channel", 1e-9)


@pytest.mark.hint(
    "where all weights of a channel are equal, s is 0, and c / s is 0 / 0: there, u is taken to be 0"
)
def test_a_channel_of_equal_weights(impl):
    w = kernel((2, 2, 3, 4), seed=7)
    w[..., 1] = 0.25
    dy = np.random.default_rng(8).normal(size=w.shape)
    _, cache = outcome(impl.weight_standardisation(w, 0.5))
    dw = named(impl.weight_standardisation_backward(dy, cache), {"w": w})["w"]
    expected = (dy[..., 1] - dy[..., 1].mean()) / 0.5
    assert_same(dw[..., 1], expected, "dw of a channel of equal weights")


# The puzzle


def covered(resnet):
    """By brute force: which pixels of a line reach one position of the feature map."""
    windows = [(7, 2), (3, 2)]
    for i, units in enumerate(resnet):
        windows += [(3, 2 if i and j == 0 else 1) for j in range(units)]
    seen = {0}
    for k, stride in reversed(windows):
        seen = {place * stride + p for place, p in itertools.product(seen, range(k))}
    return max(seen) - min(seen) + 1


@pytest.mark.puzzle
@pytest.mark.hint(
    "one position back through one window covers k; two neighbours of a map with stride s are s apart below"
)
@pytest.mark.parametrize(
    "resnet", [(), (1,), (2,), (1, 1), (2, 1, 3), (2, 2, 2, 2), (3, 4, 9), (3, 4, 6, 3)], ids=str
)
def test_pixels_seen(impl, resnet):
    got, expected = impl.pixels_seen(resnet), covered(resnet)
    assert got == expected, f"pixels_seen({resnet}): expected {expected}, got {got}"
