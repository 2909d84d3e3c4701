import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers import distance, random_batch, seeds, tiny_config
from tinyvit import ops
from tinyvit.gradcheck import MODEL_CHECKS, TOLERANCE, gradient_error, numerical_gradient, random_params
from tinyvit.model import attention_maps, backward, forward, initialise, stages
from tinyvit.model.layout import depth
from tinyvit.model.stage import (
    Stage,
    backward_through,
    forward_through,
    freeze,
    frozen_up_to,
    infer_through,
    split_at_blocks,
)
from tinyvit.objectives import loss_and_grads
from tinyvit.ops import Corruption, Noise, patchify, unpatchify
from tinyvit.ops.corruption import MASKED
from tinyvit.optim import clip_norm, make_optimizer

KINDS = {
    "class token": tiny_config(),
    "mean pooling": tiny_config(pool="mean"),
    "pre_logits, exact GELU": tiny_config(pre_logits=7, gelu="exact"),
    "not square": tiny_config(image_size=(4, 12)),
    "one layer, one patch": tiny_config(image_size=4, layers=1),
    "relative positions": tiny_config(image_size=(8, 12), position="relative"),
    "shared 2-D positions": tiny_config(image_size=(8, 12), position="2d", position_at="shared"),
}
every_kind = pytest.mark.parametrize("config", KINDS.values(), ids=KINDS)


def draw(config, seed=1, count=3, dtype="float64"):
    """Random parameters, images and labels."""
    rng = np.random.default_rng(seed)
    return random_params(config, rng, dtype), *random_batch(config, count, rng, dtype)


@pytest.mark.parametrize("check", MODEL_CHECKS, ids=lambda check: check.name)
def test_every_gradient_of_a_whole_model_matches_finite_differences(check):
    """Along two random directions through each parameter; gradcheck differentiates by every number of it."""
    rng = np.random.default_rng(11)
    params = random_params(check.config, rng)
    images, labels = random_batch(check.config, 2, rng)
    grads, scratch = params.zeros_like(), params.zeros_like()

    def loss(gradients):
        noise = Noise(3, 4) if check.training else None
        return check.objective(check.config, params, images, labels, gradients, noise=noise)

    loss(grads)

    def slope(parameter, direction):
        at, here = np.zeros(1), parameter.copy()

        def along():
            parameter[...] = here + at * direction
            return loss(scratch)

        (found,) = numerical_gradient(along, at)
        parameter[...] = here
        return found

    for name, parameter in params.items():
        directions = rng.standard_normal((2, *parameter.shape))
        by_hand = (grads[name] * directions).reshape(2, -1).sum(axis=1)
        numerical = np.array([slope(parameter, direction) for direction in directions])
        assert gradient_error(by_hand, numerical) < TOLERANCE, name


@every_kind
def test_a_batch_gives_the_results_of_its_images_one_by_one(config):
    params, images, _ = draw(config)
    together, _ = forward(config, params, images)
    assert together.shape == (3, 5)
    one_by_one = [forward(config, params, images[b : b + 1])[0] for b in range(3)]
    assert distance(together, np.concatenate(one_by_one)) < 1e-12


@pytest.mark.parametrize("check", MODEL_CHECKS, ids=lambda check: check.name)
def test_computing_the_whole_last_block_changes_no_logit(check):
    config = check.config
    params, images, _ = draw(config)
    part, _ = forward(config, params, images)
    whole = infer_through(stages(config, all_tokens=True), params, images)
    assert distance(part, whole) < 1e-12


@every_kind
def test_a_whole_pass_has_the_same_gradients(config):
    params, images, _ = draw(config)
    part, whole = params.zeros_like(), params.zeros_like()
    logits, cache = forward(config, params, images)
    backward(logits, cache, part)
    every = stages(config, all_tokens=True)
    backward_through(every, logits, forward_through(every, params, images)[1], whole)
    assert distance(whole.flat, part.flat) < 1e-12


@every_kind
def test_attention_maps_are_probabilities_of_every_token_in_every_block(config):
    params, images, _ = draw(config)
    maps = list(attention_maps(config, params, images))
    assert [A.shape for A in maps] == [(3, config.heads, config.tokens, config.tokens)] * config.layers
    for A in maps:
        np.testing.assert_allclose(A.sum(axis=-1), 1, rtol=1e-12)
    _, cache = forward(config, params, images)
    short = [ops.attention_probabilities(cache.of(f"blocks.{i}")[1]) for i in range(config.layers)]
    for A, first in zip(maps, short, strict=True):
        np.testing.assert_allclose(first, A[:, :, : first.shape[2]], rtol=1e-9)
    assert short[-1].shape[2] == (1 if config.has_token else config.tokens)


@every_kind
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_logits_loss_and_gradients_have_the_dtype_of_the_parameters(config, dtype):
    params, images, labels = draw(config, dtype=dtype)
    grads = params.zeros_like()
    loss = loss_and_grads(config, params, images, labels, grads, 0.1, Noise(1, 2), share=0.5)
    logits, _ = forward(config, params, images)
    assert [logits.dtype, loss.dtype, grads.flat.dtype] == [dtype] * 3


def test_neither_the_images_nor_the_parameters_are_modified():
    config = tiny_config(dropout=0.2, attention_dropout=0.2, drop_path=0.3)
    params, images, labels = draw(config)
    flat, pixels = params.flat.copy(), images.copy()
    loss_and_grads(config, params, images, labels, params.zeros_like(), noise=Noise(1, 2))
    np.testing.assert_array_equal(params.flat, flat)
    np.testing.assert_array_equal(images, pixels)


@settings(max_examples=10)
@given(cut=st.integers(1, 5), smoothing=st.sampled_from([0.0, 0.2]), seed=seeds())
def test_the_parts_of_a_batch_add_up_to_the_whole(cut, smoothing, seed):
    config = tiny_config(dropout=0.2, attention_dropout=0.2, drop_path=0.3)
    params, images, labels = draw(config, seed, count=6)
    grads, parts = params.zeros_like(), params.zeros_like()
    loss = loss_and_grads(config, params, images, labels, grads, smoothing, Noise(1, 2))
    total = 0
    for piece in (slice(0, cut), slice(cut, 6)):
        share, noise = len(images[piece]) / 6, Noise(1, 2, first=piece.start)
        total += loss_and_grads(config, params, images[piece], labels[piece], parts, smoothing, noise, share)
    assert math.isclose(total, loss, rel_tol=1e-12)
    assert distance(parts.flat, grads.flat) < 1e-12


def test_gradients_are_added_to_existing_ones():
    config = tiny_config()
    params, images, labels = draw(config)
    grads, twice = params.zeros_like(), params.zeros_like()
    loss_and_grads(config, params, images, labels, grads)
    for _ in range(2):
        loss_and_grads(config, params, images, labels, twice)
    np.testing.assert_allclose(twice.flat, 2 * grads.flat, rtol=1e-14)


@every_kind
def test_a_fresh_model_knows_nothing_and_says_so(config):
    params, (images, labels) = (
        initialise(config),
        random_batch(config, 4, np.random.default_rng(1), "float32"),
    )
    logits, _ = forward(config, params, images)
    assert not logits.any()
    loss = loss_and_grads(config, params, images, labels, params.zeros_like())
    assert math.isclose(loss, math.log(5), rel_tol=1e-6)


def test_a_class_token_sees_a_set_of_patches_unless_there_are_positions():
    config = tiny_config(image_size=(8, 12))
    params, images, _ = draw(config)
    patches, _ = patchify(images, 4)
    shuffled = unpatchify(patches[:, [3, 0, 5, 1, 4, 2]], images.shape, 4)
    assert distance(forward(config, params, shuffled)[0], forward(config, params, images)[0]) > 1e-3
    params["position"] = np.zeros(params.shapes["position"])
    assert distance(forward(config, params, shuffled)[0], forward(config, params, images)[0]) < 1e-12


@pytest.mark.parametrize("change", [{"gelu": "exact"}, {"eps": 1e-2}])
def test_the_numerics_of_the_configuration_reach_the_logits(change):
    params, images, _ = draw(tiny_config())
    before, _ = forward(tiny_config(), params, images)
    after, _ = forward(tiny_config(**change), params, images)
    assert 1e-6 < distance(after, before) < 0.1


def test_every_layer_norm_has_the_eps_of_the_configuration(monkeypatch):
    config, seen, layer_norm = tiny_config(eps=1e-3), [], ops.layer_norm

    def spy(x, weight, bias, eps=None):
        seen.append(eps)
        return layer_norm(x, weight, bias, eps)

    monkeypatch.setattr(ops, "layer_norm", spy)
    params, images, _ = draw(config)
    forward(config, params, images)
    assert seen == [1e-3] * (2 * config.layers + 1)


@pytest.mark.parametrize("rate", ["dropout", "attention_dropout", "drop_path"])
def test_dropout_acts_in_training_only_and_differently_at_every_step(rate):
    config = tiny_config(**{rate: 0.4})
    params, images, _ = draw(config, count=8)
    plain, _ = forward(tiny_config(), params, images)
    np.testing.assert_array_equal(forward(config, params, images)[0], plain)
    steps = [forward(config, params, images, Noise(1, step))[0] for step in (1, 2)]
    assert distance(steps[0], plain) > 1e-3 and distance(steps[0], steps[1]) > 1e-3


def test_dropout_draws_noise_wherever_it_acts():
    config = tiny_config(dropout=0.4)  # on the embedding; in a block: attention out, GELU, MLP out
    params, images, _ = draw(config)
    noise = Noise(1, 2)
    forward(config, params, images, noise)
    drawn = noise.uniform((1, 1), np)
    after = Noise(1, 2)
    for _ in range(1 + 3 * config.layers):
        after.uniform((1, 1), np)
    np.testing.assert_array_equal(drawn, after.uniform((1, 1), np))


@pytest.mark.parametrize("name, lr", [("adamw", 3e-3), ("adam", 3e-3), ("sgd", 0.05)])
def test_every_optimiser_learns_one_batch_by_heart(name, lr):
    config = tiny_config(width=24, mlp_width=48)
    rng = np.random.default_rng(1)
    images, labels = random_batch(config, 16, rng, "float32")
    params = initialise(config, seed=2)
    optimizer, grads = make_optimizer(name, params, weight_decay=1e-3), params.zeros_like()
    for step in range(1, 151):
        grads.flat[...] = 0
        loss = loss_and_grads(config, params, images, labels, grads)
        clip_norm(grads, 1.0)
        optimizer.step(grads, lr, step)
    logits, _ = forward(config, params, images)
    np.testing.assert_array_equal(logits.argmax(axis=1), labels)
    assert loss < 0.2


@every_kind
def test_a_list_may_be_cut_anywhere_and_the_gradient_of_the_pixels_comes_out_at_its_end(config):
    params, images, _ = draw(config)
    whole, own = params.zeros_like(), params.zeros_like()
    logits, cache = forward(config, params, images)
    dimages = backward_through(cache.stages, logits, cache.caches, whole)
    for cut in range(len(cache.stages) + 1):
        first, rest = cache.stages[:cut], cache.stages[cut:]
        own.clear()
        x, early = forward_through(first, params, images)
        y, late = forward_through(rest, params, x)
        np.testing.assert_array_equal(y, logits)
        np.testing.assert_array_equal(infer_through(rest, params, x), logits)
        dx = backward_through(first, backward_through(rest, logits, late, own), early, own)
        np.testing.assert_array_equal(dx, dimages)
        np.testing.assert_array_equal(own.flat, whole.flat)


@every_kind
@pytest.mark.parametrize("frozen", [None, 0, 1, 2])
def test_what_is_frozen_has_no_gradient_and_the_rest_the_same(config, frozen):
    frozen = frozen and min(frozen, config.layers)
    params, images, _ = draw(config)
    whole, part = params.zeros_like(), params.zeros_like()
    logits, cache = forward(config, params, images)
    backward(logits, cache, whole)
    short = frozen_up_to(frozen, list(cache.stages))
    found, caches = forward_through(short, params, images)
    np.testing.assert_array_equal(found, logits)
    backward_through(short, logits, caches, part)
    for name in params:
        if config.position_at == "shared" and "position" in name:
            continue  # it belongs to the stem, but every block adds to its gradient
        learns = frozen is None or depth(name) > frozen
        np.testing.assert_array_equal(part[name], whole[name] if learns else 0, err_msg=name)


def test_one_stage_may_stand_for_several():
    config, noise = tiny_config(), Noise(1, 2)
    params, images, _ = draw(config)
    stem, blocks, readout = split_at_blocks(stages(config, noise))
    assert [len(part) for part in (stem, blocks, readout)] == [4, config.layers, 3]
    halved = Stage("blocks", lambda params, x: (x / 2, None), lambda dy, cache, grads: dy / 2)
    found, _ = forward_through([*stem, halved, *readout], params, images)
    tokens = infer_through(stem, params, images)
    np.testing.assert_array_equal(found, infer_through(readout, params, tokens / 2))
    frozen = freeze(stem)
    x, cache = frozen.forward(params, images)
    np.testing.assert_array_equal(x, tokens)
    assert cache is None


def test_what_corrupted_patches_would_show_changes_no_logit():
    config = tiny_config(image_size=(8, 12), predicts="patches")
    params, images, _ = draw(config)
    corruption = Corruption(np.tile([2, 4], (3, 1)), np.tile([0, 1, MASKED, 3, 0, 5], (3, 1)))
    patches, _ = patchify(images, 4)
    patches[:, [2, 4]] += 1
    other = unpatchify(patches, images.shape, 4)
    corrupted = stages(config, corruption=corruption)
    logits = infer_through(corrupted, params, images)
    assert logits.shape == (3, 2, 5)
    np.testing.assert_array_equal(infer_through(corrupted, params, other), logits)
    assert distance(forward(config, params, images)[0][:, [2, 4]], logits) > 1e-3


@pytest.mark.parametrize("pool", ["token", "mean"])
def test_what_is_predicted_of_a_patch_is_read_from_its_own_token(pool):
    config, rng = tiny_config(image_size=(8, 12), predicts="patches", pool=pool), np.random.default_rng(1)
    params, x = random_params(config, rng), rng.standard_normal((2, config.tokens, 12))
    _, _, readout = split_at_blocks(stages(config))
    before = infer_through(readout, params, x)
    assert before.shape == (2, 6, 5)
    for i in range(6):
        moved = x.copy()
        moved[:, i + config.has_token] = rng.standard_normal(12)
        changed = (infer_through(readout, params, moved) != before).any(axis=2)
        assert changed.tolist() == [[j == i for j in range(6)]] * 2
    chosen = np.array([[4, 1], [0, 5]])
    _, _, readout = split_at_blocks(stages(config, corruption=Corruption(chosen, None)))
    found = infer_through(readout, params, x)
    np.testing.assert_allclose(found, before[[[0], [1]], chosen], rtol=1e-12)


def test_images_of_whole_numbers_or_of_another_size_are_refused():
    config = tiny_config(image_size=8)
    params, images, _ = draw(config)
    with pytest.raises(ValueError, match="images are uint8, expected normalised pixels in floating point"):
        forward(config, params, np.zeros_like(images, "uint8"))
    for wrong in (images[:, :4], images[:0], images[0]):
        with pytest.raises(ValueError, match=r"expected \(B, 8, 8, 3\) with at least one image"):
            forward(config, params, wrong)
