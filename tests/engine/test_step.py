"""A step, from the plan of a batch to the weights: what it does, and that all engines do the same."""

import numpy as np
import pytest

from tests.helpers import distance, tiny_config
from tinyvit.data import crop_and_flip, epoch_order, plan_batch, to_input
from tinyvit.engine import CpuEngine, ReferenceEngine, Training, make_engine
from tinyvit.gradcheck import random_params
from tinyvit.objectives import loss_and_grads
from tinyvit.ops import Noise
from tinyvit.optim import SGD, Adam, make_optimizer

NOISY = {"dropout": 0.2, "attention_dropout": 0.2, "drop_path": 0.3}


def draw(config, seed=1, dtype="float64", side=8):
    """Random parameters, and a training set of 20 images."""
    rng = np.random.default_rng(seed)
    images = rng.integers(0, 256, (20, side, side, 3), dtype=np.uint8)
    return random_params(config, rng, dtype), images, rng.integers(0, config.classes, 20)


MIXES = {"mixup": 0.8, "cutmix": 1.0, "erase": 0.5}
CROPS = {"scale": 0.3, "jitter": 0.4}


def plans(count=4, size=10, **mixes):
    """Plans of as many steps, crops and flips and all."""
    orders = [epoch_order(3, epoch, 20) for epoch in range((count + 1) // 2)]
    order = np.concatenate(orders)
    return [
        plan_batch(3, k + 1, order[k * size : (k + 1) * size], padding=2, flip=True, **mixes)
        for k in range(count)
    ]


def trained(make, config, params, images, labels, optimizer="adamw", clip=1.0, accumulate=1, **mixes):
    """Losses, norms and parameters after the planned steps; make is the class of the engine.

    Without the offsets of keys: softmax ignores them, so their gradient is nothing but rounding, which Adam
    divides by little more than 1e-8.
    """
    stepper = make_optimizer(optimizer, params, weight_decay=0.1)
    engine = make(config, params, training=Training(images, labels, stepper, clip, accumulate))
    found = [engine.step(plan, 0.01 * plan.step) for plan in plans(**mixes)]
    for i in range(config.layers):
        params[f"blocks.{i}.attn.qkv.bias"][config.width : 2 * config.width] = 0
    return np.array([[float(number) for number in step] for step in found]), params.flat


def test_a_step_is_gathering_learning_clipping_updating():
    """The reference engine's step, written out once more with SGD by hand."""
    config = tiny_config(image_size=12, **NOISY)
    params, images, labels = draw(config)
    plan = plan_batch(7, 5, np.array([3, 19, 4, 3]), padding=3, flip=True)
    weights, grads = params.flat.copy(), params.zeros_like()
    pixels = crop_and_flip(images, plan.indices, plan.down, plan.right, plan.flip)
    batch = to_input(pixels, np.dtype("float64"), (12, 12))
    expected = loss_and_grads(config, params, batch, labels[plan.indices], grads, noise=Noise(7, 5))
    size = np.linalg.norm(grads.flat)
    engine = ReferenceEngine(config, params, training=Training(images, labels, SGD(params), clip=size / 4))
    loss, norm = engine.step(plan, 0.3)
    assert (loss, norm) == pytest.approx((expected, size), rel=1e-12)
    np.testing.assert_allclose(params.flat, weights - 0.3 * grads.flat / 4, atol=1e-6)


def test_without_a_limit_the_gradient_is_taken_as_it_is():
    config = tiny_config()
    params, images, labels = draw(config)
    weights = params.flat.copy()
    engine = ReferenceEngine(config, params, training=Training(images, labels, SGD(params)))
    _, norm = engine.step(plans()[0], 0.5)
    np.testing.assert_allclose(np.linalg.norm(params.flat - weights), 0.5 * norm, rtol=1e-12)


@pytest.mark.parametrize("make", [ReferenceEngine, CpuEngine])
def test_nothing_of_earlier_gradients_is_left_over(make):
    config, norms = tiny_config(), []
    for before in (0, 99):
        params, images, labels = draw(config)
        engine = make(config, params, training=Training(images, labels, SGD(params)))
        engine.grads.flat[...] = before
        norms.append(float(engine.step(plans()[0], 0.5)[1]))
    assert norms[0] == norms[1]


def test_the_optimiser_is_told_the_number_of_the_step():
    """Adam's very first step is as large as the learning rate, whatever the gradient; its tenth is not."""
    config, moved = tiny_config(), {}
    for step in (1, 10):
        params, images, labels = draw(config)
        weights = params.flat.copy()
        engine = ReferenceEngine(config, params, training=Training(images, labels, Adam(params)))
        engine.step(plan_batch(0, step, np.arange(10)), 0.01)
        moved[step] = np.median(abs(params.flat - weights))
    assert moved[1] == pytest.approx(0.01, rel=1e-3)
    assert moved[10] < 0.9 * moved[1]


@pytest.mark.parametrize("optimizer", ["adamw", "sgd", "muon"])
@pytest.mark.parametrize("accumulate", [1, 3])
@pytest.mark.parametrize("threads", [None, 1, 3])
def test_several_steps_of_every_engine_and_in_parts_give_the_same_weights(optimizer, accumulate, threads):
    """The reference engine on whole batches is right; threads None is that engine on batches in parts."""
    config = tiny_config(**NOISY)

    def make(*args, **more):
        return CpuEngine(*args, **more, threads=threads, micro_batch=2)

    right, weights = trained(ReferenceEngine, config, *draw(config), optimizer)
    start = draw(config)[0].flat
    assert distance(weights, start) > 1e-3
    engine = make if threads else ReferenceEngine
    found, ours = trained(engine, config, *draw(config), optimizer, accumulate=accumulate)
    np.testing.assert_allclose(found, right, rtol=1e-10)
    np.testing.assert_allclose(ours, weights, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("accumulate", [1, 3])
@pytest.mark.parametrize("threads", [None, 1, 3])
@pytest.mark.parametrize("mixes", [MIXES, CROPS, MIXES | CROPS], ids=["mixed", "cropped", "both"])
def test_augmented_and_mixed_images_give_every_engine_the_same_weights(accumulate, threads, mixes):
    config = tiny_config(**NOISY)

    def make(*args, **more):
        return CpuEngine(*args, **more, threads=threads, micro_batch=2)

    right, weights = trained(ReferenceEngine, config, *draw(config), **mixes)
    plain, _ = trained(ReferenceEngine, config, *draw(config))
    assert (abs(right - plain) > 1e-3).all()
    engine = make if threads else ReferenceEngine
    found, ours = trained(engine, config, *draw(config), accumulate=accumulate, **mixes)
    np.testing.assert_allclose(found, right, rtol=1e-10)
    np.testing.assert_allclose(ours, weights, rtol=1e-10, atol=1e-10)


def test_the_loss_of_mixed_images_is_shared_between_their_labels():
    """Mixup's own definition: lam times the loss of one label, and 1 - lam times that of the other."""
    config, indices = tiny_config(), np.array([3, 19, 4])
    params, images, labels = draw(config)
    plan = plan_batch(7, 5, indices, mixup=1.0)
    pixels, lam, expected = to_input(images, np.dtype("float64"), (8, 8)), plan.mixing.lam, 0
    for b, (i, j) in enumerate(zip(indices, np.roll(indices, -1), strict=True)):
        mixed = lam[b] * pixels[i : i + 1] + (1 - lam[b]) * pixels[j : j + 1]
        for index, share in ((i, lam[b]), (j, 1 - lam[b])):
            loss = loss_and_grads(config, params, mixed, labels[index : index + 1], params.zeros_like())
            expected += share * loss / len(indices)
    engine = ReferenceEngine(config, params, training=Training(images, labels, SGD(params)))
    assert engine.step(plan, 0.3)[0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("optimizer", ["adamw", "adam", "sgd", "muon"])
def test_steps_on_the_gpu_give_the_weights_of_numpy(gpu, optimizer):
    config = tiny_config(**NOISY)
    params, images, labels = draw(config)
    more = MIXES | {"accumulate": 2}
    right, weights = trained(ReferenceEngine, config, *draw(config), optimizer, **more)
    there, asarray = params.to(gpu.xp), gpu.xp.asarray
    found, _ = trained(make_engine, config, there, asarray(images), asarray(labels), optimizer, **more)
    np.testing.assert_allclose(found, right, rtol=1e-9)
    np.testing.assert_allclose(there.to(np).flat, weights, rtol=1e-9, atol=1e-9)


def test_an_engine_without_training_predicts_but_takes_no_step():
    config = tiny_config(image_size=8)
    engine = ReferenceEngine(config, random_params(config, np.random.default_rng(0)))
    images = np.random.default_rng(1).normal(size=(2, 8, 8, 3))
    assert (engine.trains, engine.ranks.size, engine.summary(2)) == (False, 1, "reference engine")
    assert engine.features(images).shape == (2, config.width)
    with pytest.raises(ValueError, match="this engine only predicts"):
        engine.step(plan_batch(0, 1, np.arange(2)), 1e-3)
