import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import random_batch, seeds
from tests.weights.checkpoints import complaint, random_model
from tinyvit.model import Model, forward, layout
from tinyvit.ops.resize import METHODS
from tinyvit.weights.resize import at_image_size, resize_positions

every_method = pytest.mark.parametrize("method", METHODS)


@every_method
@pytest.mark.parametrize("pool", ["token", "mean"])
def test_a_model_for_images_of_another_shape_differs_only_in_its_positions(method, pool):
    config, params = random_model(image_size=(8, 12), pool=pool)
    model = at_image_size(Model(config, params, "abcde"), (16, 8), method)
    new, resized = model.config, model.params
    assert new.grid == (4, 2)
    assert resized.rows == layout(new) and model.classes == tuple("abcde")
    for name in set(params) - {"position"}:
        np.testing.assert_array_equal(resized[name], params[name])
    images, _ = random_batch(new, 2, np.random.default_rng(0), "float32")
    assert forward(new, resized, images)[0].shape == (2, 5)


@every_method
@pytest.mark.parametrize("position", ["1d", "2d"])
def test_resized_twice_is_resized_once_and_back_is_the_same(method, position):
    model = Model(*random_model(position=position, image_size=(8, 12)))
    once, twice = at_image_size(model, (16, 8), method), at_image_size(model, 24, method)
    twice = at_image_size(at_image_size(twice, 20), (16, 8), method)
    assert twice.params.flat.tobytes() == once.params.flat.tobytes()
    assert at_image_size(twice, (8, 12)).params.flat.tobytes() == model.params.flat.tobytes()


def test_positions_that_have_been_trained_are_what_is_resized_next():
    model = Model(*random_model(pool="mean"))
    resized = at_image_size(model, 16)
    resized.params["position"][...] += 1
    alone = Model(resized.config, resized.params)
    assert at_image_size(resized, 8).params.flat.tobytes() == at_image_size(alone, 8).params.flat.tobytes()


def test_the_class_token_keeps_its_row():
    config, params = random_model()
    resized = at_image_size(Model(config, params), 16).params
    np.testing.assert_array_equal(resized["position"][0], params["position"][0])


def test_corners_stay_where_they_are():
    config, params = random_model(image_size=(8, 12), pool="mean")
    model = at_image_size(Model(config, params), (20, 24))
    before = params["position"].reshape(*config.grid, -1)[[0, 0, -1, -1], [0, -1, 0, -1]]
    after = model.params["position"].reshape(*model.config.grid, -1)[[0, 0, -1, -1], [0, -1, 0, -1]]
    np.testing.assert_array_equal(after, before)


def test_the_same_size_is_the_same_model():
    config, params = random_model(image_size=(8, 12))
    same = at_image_size(Model(config, params), (8, 12))
    assert same.config == config
    np.testing.assert_array_equal(same.params.flat, params.flat)
    assert not np.shares_memory(same.params.flat, params.flat)  # training it leaves the other as it is


def test_positions_are_resized_as_the_official_code_does_it_unless_asked_otherwise():
    config, params = random_model()
    ways = {method: at_image_size(Model(config, params), 16, method).params["position"] for method in METHODS}
    default = at_image_size(Model(config, params), 16).params["position"]
    direct = resize_positions(params["position"], config.grid, (4, 4), config.has_token)
    for found in (default, direct):
        assert [name for name in METHODS if np.array_equal(found, ways[name])] == ["corners"]


def test_one_number_is_a_square():
    assert at_image_size(Model(*random_model()), 12).config.image_size == (12, 12)


def test_an_image_that_patches_do_not_divide_is_a_users_error():
    assert "do not divide" in complaint(at_image_size, Model(*random_model()), (9, 8))


@given(
    grid=st.tuples(st.integers(1, 5), st.integers(1, 5)),
    new_grid=st.tuples(st.integers(1, 7), st.integers(1, 7)),
    method=st.sampled_from(METHODS),
    seed=seeds(),
)
def test_turning_the_grid_over_turns_the_result_over(grid, new_grid, method, seed):
    position = np.random.default_rng(seed).standard_normal((*grid, 2))
    turned = position.transpose(1, 0, 2).reshape(-1, 2)
    one = resize_positions(position.reshape(-1, 2), grid, new_grid, False, method).reshape(*new_grid, 2)
    two = resize_positions(turned, grid[::-1], new_grid[::-1], False, method).reshape(*new_grid[::-1], 2)
    np.testing.assert_allclose(one, two.transpose(1, 0, 2), atol=1e-12)


def test_positions_are_resized_in_float64():
    position = np.random.default_rng(0).normal(size=(17, 8)).astype(np.float32)
    exact = resize_positions(position.astype(np.float64), (4, 4), (7, 7), True).astype(np.float32)
    np.testing.assert_array_equal(resize_positions(position, (4, 4), (7, 7), True), exact)
