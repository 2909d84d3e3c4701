"""The steps between the pixels and the answer: tokens from block to block, and gradients back."""

import numpy as np
import pytest
from hypothesis import given, settings

import tinyvit
from tests.helpers import any_models, seeds, tiny_config
from tests.insight.naive import made, models
from tinyvit.data import normalise
from tinyvit.insight.pictures.attention import SeenPhoto, attention_overlay
from tinyvit.model import forward, initialise, preset, stages
from tinyvit.model.stage import infer_through, split_at_blocks
from tinyvit.ops import layer_norm, linear, mlp, softmax
from tinyvit.ops.attention import join_heads, split_heads
from tinyvit.support.errors import UserError


@given(models())
@settings(max_examples=15)
def test_each_block_makes_its_tokens_of_those_of_the_block_before(drawn):
    model, images = drawn
    found = model.activations(images)
    config, params = model.config, model.params
    assert found.shape == (2, config.layers, config.tokens, config.width)
    _, blocks, readout = split_at_blocks(stages(config, all_tokens=True))
    for i, block in enumerate(blocks[1:]):
        after, _ = block.forward(params, found[:, i])
        np.testing.assert_allclose(found[:, i + 1], after, rtol=1e-4, atol=1e-5)
    x = found[:, -1]
    for each in readout:
        x, _ = each.forward(params, x)
    np.testing.assert_allclose(model.logits(images), x, rtol=1e-3, atol=1e-4)


def test_blocks_are_chosen_by_numbers_that_may_count_backwards():
    model = tinyvit.preset("nano/4", 8, 2, threads=1)
    images = np.random.default_rng(0).integers(0, 256, (3, 8, 8, 3), dtype=np.uint8)
    found = model.activations(images)
    np.testing.assert_array_equal(model.activations(images, [-1, 1]), found[:, [3, 1]])
    np.testing.assert_array_equal(model.activations(images, np.array([2])), found[:, [2]])
    for wrong in ([], [4], [-5], 3, "1", [1.5]):
        with pytest.raises(UserError, match=r"blocks is .*numbers of blocks, of which this model has 4"):
            model.activations(images, wrong)


@pytest.mark.parametrize(("heads", "blocks"), [([(0, 1)], []), ([(-1, 0), (0, 2)], []), ([(1, 1)], [0])])
def test_a_head_that_is_off_hands_zeros_to_the_next_matrix_and_a_block_hands_on_its_tokens(heads, blocks):
    model, images = made((8, 8), 2, 3, "token", "1d", seed=4)
    before, params, (H, K) = model.params.flat.copy(), model.params, (3, model.config.head_width)
    stem, _, readout = split_at_blocks(stages(model.config, all_tokens=True))
    x = infer_through(stem, params, normalise(images, np.float32))
    for b in {0, 1} - set(blocks):
        norm1, norm2 = (params.group(f"blocks.{b}.norm{n}") for n in (1, 2))
        q, k, v = split_heads(
            linear(layer_norm(x, *norm1)[0], *params.group(f"blocks.{b}.attn.qkv"))[0], 3, H
        )
        mixed = softmax(q @ k.transpose(0, 1, 3, 2) / np.sqrt(K))[0] @ v  # (B, H, N, K)
        for block, head in heads:
            mixed[:, head] *= range(2)[block] != b
        x = x + linear(join_heads(mixed), *params.group(f"blocks.{b}.attn.out"))[0]
        x = x + mlp(layer_norm(x, *norm2)[0], *params.group(f"blocks.{b}.mlp"))[0]
    logits = model.without(heads=heads, blocks=blocks).logits(images)
    np.testing.assert_allclose(logits, infer_through(readout, params, x), rtol=1e-4, atol=1e-5)
    assert abs(logits - model.logits(images)).max() > 0.01
    np.testing.assert_array_equal(model.params.flat, before)


def skips(config):
    """True for a model with several blocks, in which nothing but their two branches changes the tokens."""
    return config.layers > 1 and (
        config.position_at == "stem" or config.position in ("relative", "bias", "none")
    )


@given(any_models().filter(skips), seeds())
@settings(max_examples=25)
def test_a_model_without_a_block_skips_its_stage_whatever_its_parts_are(config, seed):
    rng, params = np.random.default_rng(seed), initialise(config, 0)
    params.flat[:] += rng.normal(0, 0.3, params.flat.shape).astype("float32")
    model, x = (
        tinyvit.Model(config, params),
        rng.normal(size=(1, *config.image_size, config.channels)).astype("float32"),
    )
    others = [each for each in stages(config) if each.name != "blocks.0"]
    found = infer_through(stages(config), model.without(blocks=[0]).params, x)
    np.testing.assert_allclose(found, infer_through(others, model.params, x), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("wrong", [{"heads": (0, 1)}, {"heads": [(0, 4)]}, {"blocks": [4]}, {"blocks": 0}])
def test_heads_and_blocks_that_there_are_not_cannot_be_switched_off(wrong):
    with pytest.raises(UserError, match=r"expected pairs .*this model has 4 blocks with 4 heads each"):
        tinyvit.preset("nano/4", 8, 2).without(**wrong)


def test_a_resnet_has_no_blocks():
    with pytest.raises(UserError, match="of which this model has 0"):
        tinyvit.preset("resnet-nano", 32, 2).activations(np.full((1, 32, 32, 3), 200, np.uint8))


def test_a_picture_has_each_image_beside_its_attention_map():
    model = tinyvit.preset("nano/4", 8, 2, threads=1)
    images = np.random.default_rng(0).integers(0, 256, (2, 8, 8, 3), dtype=np.uint8)
    upper, lower = np.split(np.asarray(model.attention_picture(images)), 2)
    for half, image, attention in zip((upper, lower), images, model.attention_map(images), strict=True):
        np.testing.assert_array_equal(half, attention_overlay(SeenPhoto.seen_whole(image), attention))


def judges_pixels(config):
    """True for a model of classes whose images have three colours."""
    return config.channels == 3 and config.predicts == "image"


@given(any_models().filter(judges_pixels), seeds())
@settings(max_examples=25)
def test_the_gradient_of_the_pixels_is_that_of_finite_differences(config, seed):
    rng, step = np.random.default_rng(seed), 1e-6
    params = initialise(config, 0).astype("float64")
    params.flat[:] += rng.normal(0, 0.1, params.flat.shape)
    images = rng.integers(0, 256, (3, *config.image_size, 3), dtype=np.uint8)
    labels, direction = rng.integers(0, config.classes, 3), rng.normal(size=images.shape)

    def losses(amount):
        """The loss of each image whose pixels, from 0 to 1, have gone by that amount along the direction."""
        logits, _ = forward(config, params, normalise(images, np.dtype("float64")) + 2 * amount * direction)
        return -np.log(softmax(logits)[0][np.arange(3), labels])

    slopes = (losses(step) - losses(-step)) / (2 * step)
    gradient = tinyvit.Model(config, params).input_gradient(images, labels)
    np.testing.assert_allclose((gradient * direction).sum(axis=(1, 2, 3)), slopes, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("changes", [{"pool": "mean"}, {"image_size": 12}])
def test_a_step_along_the_gradient_of_the_pixels_raises_the_loss(changes):
    config, rng = tiny_config(**changes), np.random.default_rng(1)
    model = tinyvit.Model(config, initialise(config, 0))
    model.params.flat[:] += rng.normal(0, 0.2, model.params.flat.shape).astype("float32")
    images, labels = rng.integers(50, 200, (4, *config.image_size, 3), dtype=np.uint8), np.arange(4)
    further = images + 3 * np.sign(model.input_gradient(images, labels))
    assert model.evaluate(further, labels).loss > model.evaluate(images, labels).loss


def test_the_gradient_is_that_of_each_image_however_many_there_are():
    model = tinyvit.Model(config := preset("nano/4", 8, 3), initialise(config, 0, "float64"))
    rng = np.random.default_rng(2)
    model.params["head.weight"] = rng.normal(size=model.params["head.weight"].shape)
    images, labels = rng.integers(0, 256, (5, 8, 8, 3), dtype=np.uint8), np.array([0, 1, 2, 1, 0])
    alone = [model.input_gradient(images[i : i + 1], labels[i : i + 1]) for i in range(5)]
    np.testing.assert_allclose(
        model.input_gradient(images, labels), np.concatenate(alone), rtol=1e-9, atol=1e-12
    )
