"""Cosines of position embeddings, laid out as the patches lie."""

import numpy as np
import pytest

from tests.helpers import tiny_config
from tinyvit.insight.positions import position_similarity
from tinyvit.model import initialise
from tinyvit.model.later.positions import position_table


@pytest.mark.parametrize("pool", ["token", "mean"])
def test_every_cosine_by_hand(pool):
    config = tiny_config(image_size=(8, 12), pool=pool)
    params = initialise(config, seed=1, dtype="float64")
    similarity = position_similarity(config, params)
    assert similarity.shape == (2, 3, 2, 3)
    places = params["position"][1:] if pool == "token" else params["position"]
    for r, c, s, d in np.ndindex(2, 3, 2, 3):
        a, b = places[r * 3 + c], places[s * 3 + d]
        assert similarity[r, c, s, d] == pytest.approx(a @ b / np.sqrt((a @ a) * (b @ b)))


@pytest.mark.parametrize(
    ("kind", "at"), [("2d", "stem"), ("sincos", "stem"), ("1d", "blocks"), ("2d", "shared")]
)
def test_other_tables_are_compared_too_those_of_the_first_block_if_all_have_one(kind, at):
    config = tiny_config(image_size=(8, 12), position=kind, position_at=at)
    params = initialise(config, seed=1, dtype="float64")
    table = position_table(config, params, None if at == "stem" else 0)
    unit = table[1:] / np.linalg.norm(table[1:], axis=1, keepdims=True)
    similarity = position_similarity(config, params)
    np.testing.assert_allclose(similarity, (unit @ unit.T).reshape(2, 3, 2, 3), atol=1e-12)


@pytest.mark.parametrize("kind", ["relative", "none"])
def test_without_a_vector_for_each_patch_there_is_nothing_to_compare(kind):
    config = tiny_config(position=kind)
    assert position_similarity(config, initialise(config)) is None


def test_lengths_do_not_matter_and_each_position_is_most_similar_to_itself():
    config = tiny_config()
    params = initialise(config, dtype="float64")
    before = position_similarity(config, params)
    params["position"] = params["position"] * np.linspace(0.1, 9, config.tokens)[:, None]
    after = position_similarity(config, params)
    np.testing.assert_allclose(after, before, atol=1e-12)
    np.testing.assert_allclose(np.einsum("rcrc->rc", after), 1)


def test_a_position_of_zeros_is_similar_to_no_other():
    config = tiny_config()
    params = initialise(config)
    params["position"] = np.zeros_like(params["position"])
    assert not position_similarity(config, params).any()
