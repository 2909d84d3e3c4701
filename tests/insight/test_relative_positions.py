"""The scores that heads give to offsets: the part that depends on no token."""

import numpy as np
import pytest

import tinyvit
from tests.insight.naive import made
from tinyvit import ops
from tinyvit.model.later.biases import attention_weights
from tinyvit.support.errors import UserError


@pytest.mark.parametrize("normed", [False, True])
@pytest.mark.parametrize("at", ["blocks", "shared"])
@pytest.mark.parametrize(("pool", "biases"), [("token", "all"), ("mean", "qv"), ("mean", "none")])
def test_a_score_is_what_the_attention_of_tokens_without_contents_adds_for_that_offset(
    at, pool, biases, normed
):
    options = {"position": "relative", "position_at": at, "pool": pool, "qkv_bias": biases, "qk_norm": normed}
    model = tinyvit.preset("nano/4", (12, 20), 3, **options)
    rng = np.random.default_rng(0)
    model.params.flat[:] = rng.normal(size=model.params.flat.shape)
    config, params, (gh, gw) = model.config, model.params, model.config.grid
    scores = model.offset_scores()
    assert scores.shape == (4, 4, 2 * gh - 1, 2 * gw - 1)
    table = params["position" if at == "shared" else "blocks.2.position"]
    _, b = params.group("blocks.2.norm1")  # all that LayerNorm leaves of a token without contents
    weight, bias, *_ = attention_weights(config, params, "blocks.2")
    q = (b @ weight + bias)[:64].reshape(1, 4, 1, 16)
    if normed:
        q, _ = ops.layer_norm(q, *params.group("blocks.2.q_norm"), config.eps)
    added, _ = ops.relative_scores((q / 4).repeat(config.tokens, axis=2), table)  # (1, H, N, N)
    for i, (r, c) in enumerate(np.ndindex(gh, gw)):
        for j, (r2, c2) in enumerate(np.ndindex(gh, gw)):
            expected = added[0, :, i + config.has_token, j + config.has_token]
            np.testing.assert_allclose(
                scores[2, :, gh - 1 + r2 - r, gw - 1 + c2 - c], expected, rtol=1e-4, atol=1e-6
            )


def test_a_new_model_has_no_preference():
    assert not tinyvit.preset("nano/8", 32, 3, position="relative").offset_scores().any()


def test_what_a_model_does_not_have_is_said():
    with pytest.raises(UserError, match="only 'relative' has scores"):
        made((8, 8), 1, 1, "token", "1d", 0)[0].offset_scores()
    with pytest.raises(UserError, match="no vector belongs to a patch"):
        made((8, 8), 1, 1, "token", "relative", 0)[0].position_similarity()
    with pytest.raises(UserError, match="block is 1, expected a number from 0 to 0"):
        made((8, 8), 1, 1, "token", "1d", 0)[0].position_similarity(1)


def test_every_block_has_its_own_similarity():
    model = tinyvit.preset("nano/8", 32, 3, position="2d", position_at="blocks")
    first, last = model.position_similarity(), model.position_similarity(3)
    assert np.abs(first - last).max() > 0.1
    e = np.concatenate(
        [
            np.repeat(model.params["blocks.3.position.rows"], 4, axis=0),
            np.tile(model.params["blocks.3.position.columns"], (4, 1)),
        ],
        axis=1,
    )
    e /= np.linalg.norm(e, axis=1, keepdims=True)
    np.testing.assert_allclose(last.reshape(16, 16), e @ e.T, atol=1e-5)
