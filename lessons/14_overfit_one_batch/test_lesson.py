"""Checks of lesson 14."""

import math

import numpy as np
import pytest

from lessons.referee import assert_same
from tinyvit.checking import random_params
from tinyvit.model import ViTConfig, infer, initialise
from tinyvit.objectives import loss_and_grads
from tinyvit.ops import cross_entropy
from tinyvit.optim import AdamW

CONFIG = ViTConfig(8, 4, width=12, mlp_width=16, heads=2, layers=2, classes=5)


def batch(seed=0, count=6):
    """Noise for images, dice for labels."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(count, 8, 8, 3)), rng.integers(0, 5, count)


def loss_of(params, images, labels):
    return float(cross_entropy(infer(CONFIG, params, images), labels)[0])


@pytest.mark.hint("append the loss that loss_and_grads returns: it is that of before the update")
def test_the_first_loss_is_that_of_blind_guessing(impl):
    params = initialise(CONFIG, dtype="float64")
    losses = impl.train_on_batch(CONFIG, params, *batch(), 3, 0.01)
    assert len(losses) == 3, f"expected 3 losses, one for each step, got {len(losses)}"
    assert_same(float(losses[0]), math.log(5), "the first loss of a zero head")


@pytest.mark.hint("one grads and one optimiser for all steps; gradients to zero before each; step from 1")
def test_every_loss_is_right(impl):
    images, labels = batch(1)
    params = random_params(CONFIG, np.random.default_rng(1))
    expected, own = [], params.astype("float64")
    grads, optimizer = own.zeros_like(), AdamW(own)
    for step in range(1, 9):
        grads.flat[:] = 0
        expected.append(float(loss_and_grads(CONFIG, own, images, labels, grads)))
        optimizer.step(grads, 0.02, step)
    losses = impl.train_on_batch(CONFIG, params, images, labels, 8, 0.02)
    for step, (got, right) in enumerate(zip(losses, expected, strict=True), start=1):
        assert_same(float(got), right, f"the loss of step {step}")
    assert_same(params.flat, own.flat, "what params holds afterwards")


@pytest.mark.hint("grads.flat.fill(0) at the start of every step: loss_and_grads adds to what is there")
def test_the_batch_is_learned_by_heart(impl):
    images, labels = batch(2)
    params = initialise(CONFIG, dtype="float64")
    losses = impl.train_on_batch(CONFIG, params, images, labels, 80, 0.02)
    assert losses[-1] < 0.02, f"after 80 steps the loss is {losses[-1]:.3f}, expected less than 0.02"
    assert loss_of(params, images, labels) < 0.02, "params has not learned: train it in place, not a copy"


CURVES = {
    "not finite": [2.3, 1.5, math.nan, 0.1],
    "wrong start": [9.3, 2.0, 0.1, 0.01],
    "exploded": [2.303, 1.4, 67.0, 10.3],
    "stuck": [2.302, 2.301, 2.4, 2.29],
    "learned": [2.303, 2.6, 0.5, 0.001],
    "slow": [2.303, 2.1, 1.9, 1.67],
}


@pytest.mark.hint("go down the table, return at the first line that applies; compare with math.log(classes)")
@pytest.mark.parametrize("verdict", CURVES)
def test_diagnosis(impl, verdict):
    found = impl.diagnose(CURVES[verdict], 10)
    assert found == verdict, f"the losses {CURVES[verdict]} of 10 classes are {verdict!r}, got {found!r}"


@pytest.mark.hint("look at all losses: np.isfinite(losses).all(); nan is not larger than anything")
@pytest.mark.parametrize("losses", [[math.nan, math.nan], [2.3, 0.1, math.inf], [2.3, math.inf, 0.01]])
def test_what_is_not_finite_is_seen_wherever_it_is(impl, losses):
    found = impl.diagnose(losses, 10)
    assert found == "not finite", f"the losses {losses} are 'not finite', got {found!r}"


@pytest.mark.hint("blind guessing costs math.log(classes): 2.30 for 10 classes, 4.61 for 100")
def test_diagnosis_knows_the_number_of_classes(impl):
    for classes, verdict in ((100, "slow"), (5, "wrong start")):
        losses = [4.605, 4.0, 2.3] if classes == 100 else [2.303, 0.1]
        found = impl.diagnose(losses, classes)
        assert found == verdict, f"the losses {losses} of {classes} classes are {verdict!r}, got {found!r}"


@pytest.mark.hint("a parameter is silent if all its numbers are what they were: np.array_equal")
def test_silent_parameters(impl):
    before = random_params(CONFIG, np.random.default_rng(3))
    after = before.astype("float64")
    after.flat += 0.1
    for name in ("position", "blocks.1.mlp.fc2.bias"):
        after[name] = before[name]
    after["head.bias"] = before["head.bias"][::-1].copy()  # moved, and its sum is what it was
    after["norm.weight"] = before["norm.weight"]
    after["norm.weight"][3] += 0.1  # one number of twelve has moved
    found = impl.silent_parameters(before, after)
    assert list(found) == ["position", "blocks.1.mlp.fc2.bias"], f"two are silent, got {found}"


@pytest.mark.hint("with a zero head, nothing below the head gets a gradient in the first step")
def test_the_first_step_moves_the_head_alone(impl):
    before = initialise(CONFIG, dtype="float64")
    after = before.astype("float64")
    impl.train_on_batch(CONFIG, after, *batch(4), 1, 0.01)
    found = impl.silent_parameters(before, after)
    expected = [name for name in before if not name.startswith("head")]
    assert list(found) == expected, f"expected all but the head to be silent, got {found}"
    impl.train_on_batch(CONFIG, after, *batch(4), 1, 0.01)
    found = impl.silent_parameters(before, after)
    assert list(found) == [], f"after a second step nothing should be silent, got {found}"
