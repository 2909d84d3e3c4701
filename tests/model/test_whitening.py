"""A whitened patch embedding sees all directions of the patches alike, and nothing of their mean."""

from dataclasses import replace

import numpy as np
import pytest

from tests.helpers import tiny_config
from tinyvit import ops
from tinyvit.model import initialise, preset
from tinyvit.model.whitening import EPS, whiten
from tinyvit.support.errors import UserError


def images(count=300, side=8, seed=0):
    """Smooth, bright images (count, side, side, 3): neighbouring pixels and channels are alike."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(count, side, side, 3)).cumsum(axis=1).cumsum(axis=2)
    return 0.5 + 0.1 * (noise + noise.mean(axis=3, keepdims=True)) + 0.02 * rng.normal(size=noise.shape)


def config(**changes):
    return tiny_config(**({"patch_size": 2, "width": 12} | changes))  # 12 numbers in a patch


def whitened(config, pixels, dtype="float64"):
    params = initialise(config, 1, dtype)
    whiten(config, params, [pixels])
    return params


def patches_of(config, pixels):
    return ops.patchify(pixels, config.patch_size)[0].reshape(-1, config.patch_size**2 * 3)


def embedded(config, params, pixels):
    """The embedding of all patches: (patches, D)."""
    return ops.linear(patches_of(config, pixels), params["patch.weight"], params["patch.bias"])[0]


def test_the_embedding_is_centred_and_its_numbers_are_uncorrelated():
    pixels = images()
    y = embedded(config(), whitened(config(), pixels), pixels)
    np.testing.assert_allclose(y.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(np.corrcoef(y.T), np.eye(12), atol=1e-6)


def test_what_varies_is_seen_equally_and_what_hardly_varies_less():
    pixels = images()
    covariance = np.cov(patches_of(config(), pixels).T, bias=True)
    values = np.linalg.eigvalsh(covariance)[::-1]
    share = values / (values + EPS * values.mean())
    variance = embedded(config(), whitened(config(), pixels), pixels).var(axis=0)
    np.testing.assert_allclose(variance / variance[0], share / share[0], rtol=1e-6)
    assert share[-1] < 0.98 < share[0]  # or this would say nothing


@pytest.mark.parametrize("width", [5, 12, 18, 24])
def test_its_mean_variance_is_that_of_lecun_normal_filters(width):
    pixels = images()
    shape = config(width=width, heads=1)
    variance = embedded(shape, whitened(shape, pixels), pixels).var(axis=0)
    np.testing.assert_allclose(variance.mean(), patches_of(shape, pixels).var(axis=0).mean(), rtol=1e-6)


def test_the_filters_are_followed_by_their_negatives_and_then_by_what_was_there():
    pixels = images()
    narrow, wide = (config(width=width, heads=1) for width in (5, 30))
    usual = initialise(wide, 1, "float64")["patch.weight"]
    weight = whitened(wide, pixels)["patch.weight"]
    np.testing.assert_array_equal(weight[:, 12:24], -weight[:, :12])
    np.testing.assert_array_equal(weight[:, 24:], usual[:, 24:])
    few = whitened(narrow, pixels)["patch.weight"]  # the leading ones
    for j in range(5):
        np.testing.assert_allclose(few[:, j] / few[0, j], weight[:, j] / weight[0, j], rtol=1e-6)


def test_grey_images_have_as_many_filters_as_their_patches_have_pixels():
    grey = np.repeat(images()[..., :1], 3, axis=3)
    usual = initialise(config(), 1, "float64")["patch.weight"]
    weight = whitened(config(), grey)["patch.weight"]
    np.testing.assert_array_equal(weight[:, 4:8], -weight[:, :4])
    np.testing.assert_array_equal(weight[:, 8:], usual[:, 8:])
    assert np.isfinite(weight).all()


@pytest.mark.parametrize("share, filters", [(1e-9, 12), (1e-12, 4)])
def test_what_varies_by_less_than_rounding_has_no_filter(share, filters):
    """share is how much the colours of nearly grey images vary, of the mean square of a pixel."""
    rng, grey = np.random.default_rng(1), 0.1 * np.repeat(images()[..., :1], 3, axis=3)
    noise = rng.normal(0, np.sqrt(share * (grey**2).mean()), grey.shape)
    weight = whitened(config(width=24), grey + noise)["patch.weight"]
    np.testing.assert_array_equal(weight[:, filters : 2 * filters], -weight[:, :filters])


def test_patches_of_every_size_can_be_whitened():
    for size in (1, 4):
        shape = config(patch_size=size, width=3 * size**2, heads=1)
        y = embedded(shape, whitened(shape, images()), images())
        np.testing.assert_allclose(y.mean(axis=0), 0, atol=1e-9)
        np.testing.assert_allclose(np.corrcoef(y.T), np.eye(3 * size**2), atol=1e-6)


def test_only_the_patch_embedding_changes():
    usual, params = initialise(config(), 1, "float64"), whitened(config(), images())
    assert {name for name in usual if (usual[name] != params[name]).any()} == {"patch.weight", "patch.bias"}


def test_it_does_not_matter_how_the_images_are_divided_into_batches():
    pixels, params = images(), initialise(config(), 1, "float64")
    whiten(config(), params, (pixels[i : i + 7] for i in range(0, len(pixels), 7)))
    np.testing.assert_allclose(params.flat, whitened(config(), pixels).flat, rtol=1e-6, atol=1e-9)


def test_the_signs_that_a_decomposition_happens_to_return_do_not_matter(monkeypatch):
    expected, eigh, rng = whitened(config(), images()).flat, np.linalg.eigh, np.random.default_rng(0)

    def otherwise(matrix):
        values, vectors = eigh(matrix)
        return values, vectors * rng.choice([-1, 1], len(values))

    monkeypatch.setattr(np.linalg, "eigh", otherwise)
    np.testing.assert_array_equal(whitened(config(), images()).flat, expected)


def test_what_cannot_be_whitened_says_so():
    with pytest.raises(UserError, match="in this model a ResNet reads it first"):
        whitened(preset("R5+nano/4", 32, 3), images(side=32))
    with pytest.raises(UserError, match="a bias of the patch embedding"):
        whitened(replace(config(), patch_bias=False), images())
    for value in (0.3, 0):
        with pytest.raises(UserError, match="patches of the training images are all the same"):
            whitened(config(), np.full((3, 8, 8, 3), value))
