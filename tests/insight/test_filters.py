"""The filters of the patch embedding are its principal directions, in order, shaped as patches."""

import numpy as np
import pytest

from tests.helpers import tiny_config
from tinyvit.insight.filters import embedding_filters, filter_pictures
from tinyvit.model import initialise
from tinyvit.ops import weight_standardisation


def planted(config, strengths, seed=0):
    """Parameters whose embedding has known directions (columns of U) of known strengths."""
    rng = np.random.default_rng(seed)
    params = initialise(config, dtype="float64")
    numbers, width = params["patch.weight"].shape
    U, _ = np.linalg.qr(rng.normal(size=(numbers, len(strengths))))
    V, _ = np.linalg.qr(rng.normal(size=(width, len(strengths))))
    params["patch.weight"] = U @ np.diag(strengths) @ V.T
    return params, U


def test_planted_directions_come_back_strongest_first():
    config = tiny_config()
    params, U = planted(config, [1.0, 5.0, 3.0])
    filters = embedding_filters(config, params, 3)
    for found, column in zip(filters, (1, 2, 0), strict=True):
        assert abs(found.ravel() @ U[:, column]) == pytest.approx(1)


@pytest.mark.parametrize(("form", "epsilon"), [("official", (1e-5, False)), ("timm", (1e-8, True))])
def test_the_filters_of_a_hybrid_are_those_of_its_standardised_root(form, epsilon):
    config = tiny_config(image_size=16, patch_size=2, resnet=(1,), resnet_width=32, resnet_form=form)
    params = initialise(config, dtype="float64")
    params["resnet.root.conv.weight"] *= 1e-3  # so that the epsilon counts
    filters = embedding_filters(config, params, 50)
    assert filters.shape == (32, 7, 7, 3)
    kernel, _ = weight_standardisation(params["resnet.root.conv.weight"], *epsilon)
    responses = np.linalg.norm(filters.reshape(32, -1) @ kernel.reshape(-1, 32), axis=1)
    np.testing.assert_allclose(responses, np.linalg.svd(kernel.reshape(-1, 32))[1], rtol=1e-10)


def test_filters_are_shaped_as_patches_in_the_order_of_patchify():
    config = tiny_config()
    params = initialise(config, dtype="float64")
    weight = np.zeros_like(params["patch.weight"])
    weight[(2 * 4 + 3) * 3 + 1, 0] = 2.0  # row 2, column 3, green
    params["patch.weight"] = weight
    expected = np.zeros((4, 4, 3))
    expected[2, 3, 1] = 1
    np.testing.assert_allclose(embedding_filters(config, params, 1)[0], expected, atol=1e-12)


def test_filters_have_length_one_at_right_angles_and_a_fixed_sign():
    config = tiny_config(width=48, heads=3)
    params = initialise(config, seed=3)
    flat = embedding_filters(config, params, 20).reshape(20, -1)
    np.testing.assert_allclose(flat @ flat.T, np.eye(20), atol=1e-9)
    assert (flat.max(axis=1) == np.abs(flat).max(axis=1)).all()
    params["patch.weight"] = -params["patch.weight"]
    np.testing.assert_allclose(embedding_filters(config, params, 20).reshape(20, -1), flat, atol=1e-9)


@pytest.mark.parametrize(("patch", "width", "there_are"), [(4, 12, 12), (2, 48, 12), (4, 48, 28)])
def test_no_more_filters_than_there_are(patch, width, there_are):
    config = tiny_config(patch_size=patch, width=width)
    assert embedding_filters(config, initialise(config)).shape == (there_are, patch, patch, 3)


def test_pictures_put_nothing_at_mid_grey_and_the_largest_at_full_colour():
    filters = np.zeros((2, 1, 2, 3))
    filters[0, 0] = [[0.5, -0.5, 0.25], [0, 0, 0]]
    assert filter_pictures(filters)[0].tolist() == [[[255, 0, 191], [128, 128, 128]]]
    assert (filter_pictures(filters)[1] == 128).all()
