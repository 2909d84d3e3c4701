import numpy as np
import pytest

from tinyvit.ops import class_token, mean_pool, position_embedding, tanh, token_pool


@pytest.fixture
def x():
    return np.random.default_rng(1).standard_normal((3, 4, 5))


def test_the_class_token_comes_before_the_patches_of_every_image(x):
    token = np.arange(1.0, 6)
    y, _ = class_token(x, token)
    for b in range(3):
        np.testing.assert_array_equal(y[b], [token, *x[b]])


def test_the_position_embedding_is_added_at_its_place_in_every_image(x):
    embedding = np.random.default_rng(2).standard_normal((4, 5))
    y, _ = position_embedding(x, embedding)
    for b, n in np.ndindex(3, 4):
        np.testing.assert_array_equal(y[b, n], x[b, n] + embedding[n])


def test_token_pool_takes_the_first_token(x):
    np.testing.assert_array_equal(token_pool(x)[0], [image[0] for image in x])


def test_mean_pool_averages_the_tokens_of_each_image(x):
    expected = [sum(image[n] for n in range(4)) / 4 for image in x]
    np.testing.assert_allclose(mean_pool(x)[0], expected, rtol=1e-14)


def test_tanh_is_the_hyperbolic_tangent(x):
    np.testing.assert_allclose(tanh(x)[0], (np.exp(2 * x) - 1) / (np.exp(2 * x) + 1), rtol=1e-12)
