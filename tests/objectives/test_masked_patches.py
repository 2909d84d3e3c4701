"""Learning without labels: what is to be predicted, the loss, and its gradient."""

import math
from functools import partial

import numpy as np
import pytest

from tests.helpers import tiny_config
from tinyvit import model
from tinyvit.data import normalise, plan_batch
from tinyvit.engine import CpuEngine, ReferenceEngine, Training
from tinyvit.gradcheck import random_params
from tinyvit.insight.pictures.of_runs import filled_patches
from tinyvit.model import Params, ViTConfig, initialise, layout
from tinyvit.model.stage import forward_through, infer_through
from tinyvit.objectives import masked_patches
from tinyvit.objectives.masked_patches import (
    TARGETS,
    as_pixels,
    blind_loss,
    class_colours,
    colour_classes,
    fixed_corruption,
    losses_and_hits,
    pretraining_config,
    true_patches,
)
from tinyvit.ops import Corruption, Noise
from tinyvit.optim import AdamW, Optimizer
from tinyvit.support.errors import UserError

every_target = pytest.mark.parametrize("target", TARGETS)


def config_for(target, **changes):
    return pretraining_config(tiny_config(**({"image_size": (8, 16)} | changes)), target, 0.5)


def pictures(count, height=8, width=16, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (count, height, width, 3), dtype=np.uint8)


def everywhere(count, patches):
    """Rows of all patches, for `count` images."""
    return np.tile(np.arange(patches), (count, 1))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("byte", [0, 31, 32, 127, 128, 223, 224, 255])
def test_the_colour_of_a_constant_patch_is_the_top_three_bits_of_its_bytes(byte, dtype):
    image = np.empty((1, 4, 4, 3), dtype=np.uint8)
    image[...] = byte, 255 - byte, 100
    config = config_for("mean-colour", image_size=(4, 8))
    x = np.tile(normalise(image, np.dtype(dtype)), (1, 1, 2, 1))
    expected = 64 * (byte >> 5) + 8 * ((255 - byte) >> 5) + (100 >> 5)
    assert true_patches(config, x, everywhere(1, 2), "mean-colour").tolist() == [[expected] * 2]


@every_target
def test_targets_are_those_of_a_naive_loop(target):
    config, images = config_for(target, patch_size=8, image_size=(8, 24)), pictures(2, 8, 24)
    chosen = np.array([[2, 0], [1, 2]])
    found = true_patches(config, normalise(images, np.dtype("float32")), chosen, target)
    for b, i in np.ndindex(2, 2):
        patch = images[b, :, 8 * chosen[b, i] : 8 * chosen[b, i] + 8].astype(float)
        if target == "pixels":
            np.testing.assert_allclose(found[b, i], (patch.ravel() - 127.5) / 127.5, atol=1e-6)
            continue
        side = {"mean-colour": 8, "downsized": 2}[target]
        expected = []
        for r, c in np.ndindex(8 // side, 8 // side):
            cell = patch[side * r : side * r + side, side * c : side * c + side]
            red, green, blue = (int(cell[..., k].mean() // 32) for k in range(3))
            expected.append(64 * red + 8 * green + blue)
        assert found[b, i].tolist() == (expected[0] if target == "mean-colour" else expected)


def test_a_class_is_painted_in_a_colour_of_that_class():
    classes = np.arange(512)
    np.testing.assert_array_equal(colour_classes(class_colours(classes)), classes)
    assert class_colours(np.array(0)).tolist() == [16, 16, 16]


@every_target
def test_what_is_painted_has_the_same_target(target):
    config, rows = config_for(target, patch_size=8, image_size=(8, 16)), everywhere(1, 2)
    values = true_patches(config, normalise(pictures(1), np.dtype("float64")), rows, target)
    painted = as_pixels(config, values, target)
    assert painted.shape == (1, 2, 8 * 8 * 3)
    image = painted.reshape(1, 2, 8, 8, 3).transpose(0, 2, 1, 3, 4).reshape(1, 8, 16, 3)
    np.testing.assert_allclose(true_patches(config, image, rows, target), values, atol=1e-12)


@every_target
def test_a_new_model_starts_at_the_loss_of_one_that_knows_nothing(target):
    config = config_for(target)
    params = initialise(config)
    x = normalise(pictures(3), np.dtype("float32"))
    loss = masked_patches.loss_and_grads(
        config, params, x, None, params.zeros_like(), target=target, noise=Noise(0, 1)
    )
    if target == "pixels":
        chosen = masked_patches.ops.draw_corruption(Noise(0, 1), 3, config.patches, 0.5, np).chosen
        truth = true_patches(config, x, chosen, target)
        assert loss == pytest.approx((truth**2).mean(), rel=1e-5)
    else:
        assert loss == pytest.approx(math.log(512), rel=1e-6)


@every_target
@pytest.mark.parametrize("pool", ["token", "mean"])
def test_loss_and_gradient_of_the_parts_add_up_to_those_of_the_whole(target, pool):
    config = config_for(target, pool=pool, dropout=0.1)
    params = random_params(config, np.random.default_rng(0))
    objective = partial(masked_patches.loss_and_grads, target=target)
    plan, found = plan_batch(3, 4, np.arange(7)), []

    class Kept(Optimizer):
        state = {}  # noqa: RUF012

        def step(self, grads, lr, number):
            self.flat = grads.flat.copy()

    for make, accumulate in ((ReferenceEngine, 1), (ReferenceEngine, 3), (CpuEngine, 1), (CpuEngine, 3)):
        kept = Kept()
        training = Training(pictures(7), np.zeros(7, dtype=np.int64), kept, accumulate=accumulate)
        more = {"threads": 2, "micro_batch": 2} if make is CpuEngine else {}
        loss, _ = make(config, params, objective, training, **more).step(plan, 1e-3)
        found.append((loss, kept.flat))
    for loss, grads in found[1:]:
        assert loss == pytest.approx(found[0][0], rel=1e-12)
        np.testing.assert_allclose(grads, found[0][1], rtol=1e-9, atol=1e-13)


def test_the_gradient_of_downsized_patches_is_that_of_finite_differences():
    config = config_for("downsized")
    rng = np.random.default_rng(1)
    params, direction = random_params(config, rng), rng.normal(size=layout_size(config))
    x, grads = normalise(pictures(2), np.dtype("float64")), params.zeros_like()
    masked_patches.loss_and_grads(config, params, x, None, grads, target="downsized", noise=Noise(0, 1))

    def loss(step):
        moved = Params(params.flat + step * direction, params.rows)
        return masked_patches.forward_loss(config, moved, x, "downsized", 0.5, Noise(0, 1))[0]

    assert (loss(1e-5) - loss(-1e-5)) / 2e-5 == pytest.approx(grads.flat @ direction, rel=1e-6)


def layout_size(config):
    return sum(math.prod(row.shape) for row in layout(config))


@pytest.mark.parametrize("pool", ["token", "mean"])
def test_without_corruption_the_tokens_are_those_of_the_plain_model(pool):
    plain = tiny_config(pool=pool)
    config = pretraining_config(plain, "mean-colour", 0.5)
    params = random_params(config, np.random.default_rng(0))
    body = params.copy_to(layout(plain), exclude="head.")
    x = np.random.default_rng(1).normal(size=(2, 8, 8, 3))
    nothing = Corruption(everywhere(2, 4), everywhere(2, 4))
    corrupted = model.stages(config, corruption=nothing)
    logits, caches = forward_through(corrupted, params, x)
    np.testing.assert_array_equal(logits, model.infer(config, params, x))
    assert logits.shape == (2, 4, 512)
    every = model.stages(plain, all_tokens=True)
    n, *_ = model.Cache(every, forward_through(every, body, x)[1]).of("norm")
    has_token = pool == "token"
    np.testing.assert_array_equal(model.Cache(corrupted, caches).of("norm")[0], n)
    heads = n[:, has_token:] * params["norm.weight"] + params["norm.bias"]
    np.testing.assert_allclose(logits, heads @ params["head.weight"] + params["head.bias"], rtol=1e-10)


@every_target
def test_the_loss_of_an_evaluation_is_that_of_the_objective(target):
    config = config_for(target)
    params = random_params(config, np.random.default_rng(2))
    x = normalise(pictures(3), np.dtype("float64"))
    corruption = fixed_corruption(config, 3, 0.5, 5, np)
    losses, hits = losses_and_hits(
        config, infer_through(model.stages(config, corruption=corruption), params, x), x, corruption, target
    ).T
    expected, _ = masked_patches.forward_loss(config, params, x, target, 0.5, Noise(5, 0))
    assert losses.mean() == pytest.approx(expected, rel=1e-12)
    assert np.isnan(hits).all() if target == "pixels" else ((hits >= 0) & (hits <= 1)).all()


def test_only_as_many_colours_as_are_right_count_as_hits():
    config = config_for("mean-colour")
    params, x = initialise(config, dtype="float64"), normalise(pictures(2), np.dtype("float64"))
    corruption = fixed_corruption(config, 2, 0.5, 0, np)
    truth = true_patches(config, x, corruption.chosen, "mean-colour")
    params["head.bias"][truth[0, 0]] = 50.0  # it always says this colour
    logits = infer_through(model.stages(config, corruption=corruption), params, x)
    _, hits = losses_and_hits(config, logits, x, corruption, "mean-colour").T
    np.testing.assert_allclose(hits, (truth == truth[0, 0]).mean(axis=1))


def test_a_hybrid_predicts_the_pixels_below_each_patch_of_its_map():
    plain = ViTConfig(16, 1, 12, 20, 3, 1, 5, resnet=(1, 1), resnet_width=4, resnet_groups=2)
    config = pretraining_config(plain, "mean-colour", 0.5)
    assert (config.pixels_per_patch, config.patches, config.classes) == (8, 4, 512)
    params = random_params(config, np.random.default_rng(0))
    x = normalise(pictures(2, 16, 16), np.dtype("float64"))
    grads = params.zeros_like()
    loss = masked_patches.loss_and_grads(config, params, x, None, grads, noise=Noise(0, 1))
    assert np.isfinite(loss) and all(np.abs(grads[name]).max() > 0 for name in params)
    with pytest.raises(UserError, match="12 x 12 pixels are not made of whole patches of 8 x 8"):
        pretraining_config(ViTConfig(**(plain.as_dict() | {"image_size": 12})), "pixels", 0.5)


@pytest.mark.parametrize(
    ("config", "target", "corrupt", "said"),
    [
        (tiny_config(), "colour", 0.5, "expected one of mean-colour, downsized, pixels"),
        (tiny_config(patch_size=2), "downsized", 0.5, "2 x 2 pixels cannot be downsized to 4 x 4"),
        (tiny_config(patch_size=8), "mean-colour", 1.0, "a single patch of 8 x 8 pixels"),
        (tiny_config(), "mean-colour", 0.2, "a share of 0.2 of 4 patches is less than one patch"),
    ],
)
def test_what_cannot_be_predicted_is_refused(config, target, corrupt, said):
    with pytest.raises(UserError, match=said):
        pretraining_config(config, target, corrupt)


def test_a_model_learns_to_fill_in_patches_of_one_colour():
    """Each image has one colour: any patch that is seen tells that of the others."""
    colours = np.random.default_rng(0).integers(0, 256, (16, 1, 1, 3), dtype=np.uint8)
    images = np.tile(colours, (1, 8, 16, 1))
    config = config_for("mean-colour", width=24, heads=2)
    params = initialise(config)
    training = Training(images, np.zeros(16, dtype=np.int64), AdamW(params, weight_decay=0.0), 1.0)
    engine = ReferenceEngine(config, params, masked_patches.loss_and_grads, training)
    losses = [float(engine.step(plan_batch(0, step, np.arange(16)), 1e-2)[0]) for step in range(1, 61)]
    assert losses[0] == pytest.approx(math.log(512), rel=1e-5)
    assert losses[-1] < 1


@pytest.mark.parametrize("target", ["mean-colour", "downsized"])
def test_blind_guessing_is_among_colours_not_among_all_outputs(target):
    assert blind_loss(config_for(target), target) == pytest.approx(math.log(512))


def test_what_is_predicted_and_what_is_true_are_in_their_places():
    config = config_for("pixels", image_size=8)
    params = initialise(config, 0)  # whose head is zero: it predicts grey everywhere
    params["head.bias"][...] = 0.5
    images = np.random.default_rng(0).integers(0, 256, (2, 8, 8, 3), dtype=np.uint8)
    shown, painted, predicted, truth = filled_patches(config, params, images, "pixels", 0.5, 0).swapaxes(0, 1)
    np.testing.assert_array_equal(shown, images)
    np.testing.assert_array_equal(truth, images)  # pixels are what they are
    hidden = (painted != images).any(axis=-1)
    assert hidden.any() and (predicted[hidden] != images[hidden]).any()
    np.testing.assert_array_equal(predicted[~hidden], images[~hidden])
