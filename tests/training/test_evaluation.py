"""Loss and accuracy are those that a loop over the images would find."""

import math

import numpy as np
import pytest

from tinyvit import engine as engines
from tinyvit.data import ImageSet, normalise
from tinyvit.engine import make_engine
from tinyvit.model import forward, initialise, preset
from tinyvit.training.evaluation import evaluate
from tinyvit.training.state import State


@pytest.fixture
def engine():
    config = preset("nano/4", 8, 4)
    params = initialise(config, 1)
    params["head.weight"][...] = np.random.default_rng(2).normal(size=(64, 4))
    return make_engine(config, params, threads=2)


def images(count, classes=4):
    rng = np.random.default_rng(3)
    pixels = rng.integers(0, 256, (count, 8, 8, 3), dtype=np.uint8)
    return ImageSet(pixels, rng.integers(0, classes, count))


@pytest.mark.parametrize("batch", [1, 7, 500])
def test_it_is_what_a_loop_over_the_images_finds(engine, monkeypatch, batch):
    monkeypatch.setattr(engines, "_MOST_IMAGES", batch)
    data = images(23)
    result = evaluate(engine, data)
    losses, hits = [], []
    for image, label, row in zip(data.images, data.labels, result.probabilities, strict=True):
        logits = forward(engine.config, engine.params, normalise(image[None], np.dtype("float32")))[0][0]
        p = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
        np.testing.assert_allclose(row, p, rtol=1e-4)
        losses.append(-math.log(p[label]))
        hits.append(logits.argmax() == label)
    assert result.loss == pytest.approx(np.mean(losses), rel=1e-4)
    assert result.accuracy == np.mean(hits)
    assert result.counts.sum(axis=1).tolist() == np.bincount(data.labels, minlength=4).tolist()
    for c in range(4):
        assert result.counts[c, c] == np.sum(np.array(hits)[data.labels == c])


def test_a_model_that_is_sure_and_wrong_has_a_finite_loss(engine):
    engine.params["head.weight"][...] = 0
    engine.params["head.bias"][...] = (0, 0, 0, 500)  # e^-500 is 0 in float32
    data = images(10, classes=2)
    assert evaluate(engine, data).loss == pytest.approx(500)


def test_with_flip_the_logits_are_the_mean_of_two_looks(engine):
    data = images(23)
    mirrored = ImageSet(np.ascontiguousarray(data.images[:, :, ::-1]), data.labels)
    both, one, other = evaluate(engine, data, flip=True), evaluate(engine, data), evaluate(engine, mirrored)
    product = np.sqrt(one.probabilities * other.probabilities)  # a mean of logits, up to a constant
    np.testing.assert_allclose(both.probabilities, product / product.sum(axis=1, keepdims=True), rtol=1e-4)
    assert np.abs(both.probabilities - one.probabilities).max() > 0.01
    again = evaluate(engine, mirrored, flip=True)
    np.testing.assert_allclose(again.probabilities, both.probabilities, rtol=1e-4)


def test_with_flip_on_a_gpu(gpu):
    config = preset("nano/4", 8, 4)
    params = initialise(config, 1)
    params["head.weight"][...] = np.random.default_rng(2).normal(size=(64, 4))
    here, there = (make_engine(config, each) for each in (params, params.to(gpu.xp)))
    found, wanted = (evaluate(engine, images(9), flip=True).probabilities for engine in (there, here))
    np.testing.assert_allclose(found, wanted, rtol=1e-3)


def test_of_equal_epochs_the_first_is_the_best():
    state = State()
    for epoch, (accuracy, loss) in enumerate(
        [(0.5, 2.0), (0.75, 1.5), (0.75, 1.5), (0.75, 1.4), (0.7, 1.0)], 1
    ):
        state.judge(epoch, accuracy, loss, by_loss=False)
        assert state.best_epoch == (1, 2, 2, 4, 4)[epoch - 1]
