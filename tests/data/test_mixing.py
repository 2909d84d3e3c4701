"""Mixup and CutMix: images and labels are mixed in the same shares, each image with the next of its batch."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import seeds
from tinyvit.backend import to_numpy
from tinyvit.data import make_batch, plan_batch
from tinyvit.data.mixing import Mixing, draw_mixing, mix_images, mix_labels

METHODS = [(0.8, 0.0), (0.0, 1.0), (0.8, 1.0)]  # alpha of mixup and of cutmix
methods = st.sampled_from(METHODS)
sizes = st.tuples(st.integers(1, 9), st.integers(1, 9))
BLACK_AND_WHITE = np.repeat(np.array([0, 255], np.uint8), 8 * 6 * 3).reshape(2, 8, 6, 3)


def mixed_naively(images, after, mixing):
    """Pixel by pixel, as the papers say."""
    B, H, W, C = images.shape
    result = images.copy()
    for b in range(B):
        other = (images[b + 1] if b + 1 < B else after[0]).tolist()
        lam = mixing.lam[b]
        height, width = int(H * np.sqrt(1 - lam)) // 2, int(W * np.sqrt(1 - lam)) // 2
        y, x = int(mixing.row[b] * H), int(mixing.column[b] * W)
        for i in range(H):
            for j in range(W):
                if not mixing.pasted[b]:
                    for c in range(C):
                        result[b, i, j, c] = lam * images[b, i, j, c] + (1 - lam) * other[i][j][c]
                elif y - height <= i < y + height and x - width <= j < x + width:
                    result[b, i, j] = other[i][j]
    return result


@given(size=sizes, count=st.integers(1, 5), method=methods, seed=seeds())
def test_images_are_mixed_as_pixel_by_pixel(size, count, method, seed):
    rng = np.random.default_rng(seed)
    images, after = rng.standard_normal((count, *size, 3)), rng.standard_normal((1, *size, 3))
    mixing = draw_mixing(rng, count, *method)
    found = mix_images(images, after, mixing)
    np.testing.assert_allclose(found, mixed_naively(images, after, mixing), rtol=1e-12, atol=1e-12)
    pasted = np.append(np.flatnonzero(mixing.pasted), count)
    assert set(found[pasted[:-1]].ravel()) <= {*images.ravel(), *after.ravel()}  # to the bit


@given(size=sizes, method=methods, seed=seeds())
def test_the_shares_of_the_labels_are_those_of_the_pixels(size, method, seed):
    """Of black images followed by a white one, the mean colour is the share."""
    mixing = draw_mixing(np.random.default_rng(seed), 1, *method)
    mixed = mix_images(np.zeros((1, *size, 3)), np.ones((1, *size, 3)), mixing)
    assert mixed.mean() == pytest.approx(mixing.shares(*size)[0], abs=1e-12)
    if mixing.pasted[0]:
        assert mixed[..., 0].sum() == round(mixing.shares(*size)[0] * size[0] * size[1])


@given(count=st.integers(1, 20), classes=st.integers(1, 5), seed=seeds())
def test_every_target_is_a_distribution_over_the_two_labels(count, classes, seed):
    rng = np.random.default_rng(seed)
    labels, after, shares = rng.integers(0, classes, count), rng.integers(0, classes, 1), rng.random(count)
    targets = mix_labels(labels, after, shares, classes)
    np.testing.assert_allclose(targets.sum(axis=1), 1, rtol=1e-12)
    for own, other, share, target in zip(labels, [*labels[1:], *after], shares, targets, strict=True):
        expected = np.zeros(classes)
        expected[own] += 1 - share
        expected[other] += share
        np.testing.assert_allclose(target, expected, rtol=1e-12)


@pytest.mark.parametrize("alpha", [0.2, 1.0, 8.0])
def test_shares_have_the_beta_distribution(alpha):
    """Mean 1/2 and variance 1 / (4 (2 alpha + 1)); 40,000 draws stray by a hundredth of that at most."""
    for method in ((alpha, 0.0), (0.0, alpha)):
        lam = draw_mixing(np.random.default_rng(0), 40_000, *method).lam
        assert lam.mean() == pytest.approx(0.5, abs=0.01)
        assert lam.var() == pytest.approx(1 / (4 * (2 * alpha + 1)), rel=0.03)


def test_rectangles_have_the_sides_of_the_paper_and_their_centre_is_anywhere():
    lam, row, column = np.array([0.75, 0.75, 0, 1]), np.array([0.5, 0, 0.5, 0.5]), np.full(4, 0.5)
    mixing = Mixing(lam, np.full(4, True), row, column)
    regions, weight = mixing.regions(32, 16)
    assert np.array(regions).T.tolist() == [[8, 24, 4, 12], [0, 8, 4, 12], [0, 32, 0, 16], [16, 16, 8, 8]]
    assert mixing.shares(32, 16).tolist() == [0.25, 0.125, 1, 0] and weight.tolist() == [1] * 4
    drawn = draw_mixing(np.random.default_rng(0), 10_000, 0, 1)
    ninths, *_ = np.histogram2d(drawn.row, drawn.column, 3, [(0, 1), (0, 1)])
    assert abs(ninths - 10_000 / 9).max() < 5 * np.sqrt(10_000 / 9)


@pytest.mark.parametrize(("method", "share"), list(zip(METHODS, [0, 1, 0.5], strict=True)))
def test_with_both_methods_half_of_the_images_have_a_rectangle_pasted(method, share):
    """The share of 10,000 tosses strays by 0.005, one time in three."""
    pasted = draw_mixing(np.random.default_rng(1), 10_000, *method).pasted
    assert abs(pasted.mean() - share) < (0.025 if share == 0.5 else 1e-12)


def test_with_both_methods_each_has_the_distribution_of_its_own_alpha():
    """A small alpha leaves one image nearly whole, a large one gives both about a half."""
    mixing = draw_mixing(np.random.default_rng(0), 4000, mixup=0.05, cutmix=50.0)
    from_half = abs(mixing.lam - 0.5)
    assert from_half[mixing.pasted].max() < 0.4 and from_half[~mixing.pasted].mean() > 0.4


@pytest.mark.parametrize("alpha", [1e-300, 1e-3, 1e3, 1e300])
def test_any_alpha_gives_shares_from_0_to_1(alpha):
    shares = draw_mixing(np.random.default_rng(0), 1000, alpha, alpha).shares(32, 32)
    assert (shares >= 0).all() and (shares <= 1).all()


@given(count=st.integers(1, 12), parts=st.integers(1, 12), method=methods, seed=seeds())
def test_the_parts_of_a_batch_are_mixed_with_the_same_images_as_in_the_whole(count, parts, method, seed):
    rng = np.random.default_rng(seed)
    images, labels = rng.integers(0, 256, (20, 8, 6, 3), dtype=np.uint8), rng.integers(0, 4, 20)
    mixup, cutmix = method
    plan = plan_batch(seed, 3, rng.integers(0, 20, count), 2, True, mixup=mixup, cutmix=cutmix, erase=0.5)

    def made(part):
        return make_batch(images, labels, part, np.dtype("float32"), (8, 6), 4)

    halves = [smaller for part in plan.parts(parts) for smaller in part.parts(2)]
    for whole, *pieces in zip(made(plan), *map(made, halves), strict=True):
        np.testing.assert_array_equal(np.concatenate(pieces), whole)


def test_the_last_image_of_a_batch_is_mixed_with_its_first():
    plan = plan_batch(0, 1, np.array([0, 0, 1]), mixup=1.0)
    x, targets = make_batch(BLACK_AND_WHITE, np.array([1, 0]), plan, np.dtype("float64"), (8, 6), 3)
    expected = [[0, 1, 0], [1 - plan.mixing.lam[1], plan.mixing.lam[1], 0]]
    expected.append([plan.mixing.lam[2], 1 - plan.mixing.lam[2], 0])
    np.testing.assert_allclose(targets, expected, rtol=1e-12)
    np.testing.assert_allclose((x.mean(axis=(1, 2, 3)) + 1) / 2, targets[:, 0], rtol=1e-12)


def test_images_are_mixed_before_they_are_resized_for_the_model():
    plan = plan_batch(0, 1, np.array([0, 1]), cutmix=1.0)
    x, targets = make_batch(BLACK_AND_WHITE, np.array([0, 1]), plan, np.dtype("float64"), (16, 12), 2)
    assert x.shape == (2, 16, 12, 3)
    np.testing.assert_allclose((x.mean(axis=(1, 2, 3)) + 1) / 2, targets[:, 1], atol=0.05)


def test_mixing_needs_the_number_of_classes():
    plan = plan_batch(0, 1, np.array([0, 1]), cutmix=1.0)
    with pytest.raises(ValueError, match="number of classes"):
        make_batch(BLACK_AND_WHITE, np.array([0, 1]), plan, np.dtype("float32"), (8, 6))


def test_a_batch_is_erased_and_mixed_where_the_images_are(gpu):
    rng = np.random.default_rng(0)
    images, labels = rng.integers(0, 256, (9, 8, 6, 3), dtype=np.uint8), rng.integers(0, 5, 9)
    plan = plan_batch(1, 2, np.array([8, 0, 3, 2]), 2, True, mixup=1.0, cutmix=1.0, erase=0.5)
    here = make_batch(images, labels, plan, np.dtype("float32"), (8, 6), 5)
    asarray = gpu.xp.asarray
    there = make_batch(asarray(images), asarray(labels), plan, np.dtype("float32"), (8, 6), 5)
    for a, b in zip(there, here, strict=True):
        assert isinstance(a, gpu.xp.ndarray) and a.dtype == np.float32
        np.testing.assert_allclose(to_numpy(a), b, rtol=1e-6, atol=1e-6)
