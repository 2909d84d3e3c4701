"""Checks of lesson 11."""

import importlib
import math

import numpy as np
import pytest

from lessons.referee import assert_same, assert_trust, assert_untouched
from tinyvit.gradcheck import random_params
from tinyvit.model import ViTConfig, infer, initialise
from tinyvit.objectives import loss_and_grads
from tinyvit.ops import cross_entropy
from tinyvit.optim import AdamW

SOLUTION = importlib.import_module("lessons.11_overfit_one_batch.solution")
FAULTS = importlib.import_module("lessons.11_overfit_one_batch.runs").FAULTS
CONFIG = ViTConfig(8, 4, width=12, mlp_width=16, heads=2, layers=2, classes=5)


def batch(seed=0, count=6):
    """Noise for images, random labels."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(count, 8, 8, 3)), rng.integers(0, 5, count)


def loss_of(params, images, labels):
    return float(cross_entropy(infer(CONFIG, params, images), labels)[0])


@pytest.mark.hint(
    "append the loss that loss_and_grads returns: it is that of before the update",
    crash="if it is a division by zero: the optimiser's first step is step 1",
)
def test_the_first_loss_is_that_of_blind_guessing(impl):
    params = initialise(CONFIG, dtype="float64")
    losses = impl.train_on_batch(CONFIG, params, *batch(), 3, 0.01)
    assert losses is not None, "train_on_batch returns None: does it end with return losses?"
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
    assert len(losses) == 8, f"expected 8 losses, one for each step, got {len(losses)}"
    for step, (got, right) in enumerate(zip(losses, expected, strict=True), start=1):
        assert_same(float(got), right, f"the loss of step {step}")
    assert_same(params.flat, own.flat, "what params holds afterwards")


@pytest.mark.hint("nothing but params changes; the losses are Python floats, in a list")
def test_only_the_parameters_change(impl):
    images, labels = batch(6)
    params = initialise(CONFIG)
    arrays = [images.astype("float32"), labels]
    before = [array.copy() for array in arrays]
    losses = impl.train_on_batch(CONFIG, params, *arrays, 2, 0.01)
    assert_untouched(before, arrays)
    assert params.flat.dtype == np.float32, f"params has become {params.flat.dtype}"
    assert isinstance(losses, list), f"the losses are a {type(losses).__name__}, expected a list"
    assert all(isinstance(loss, float) for loss in losses), "the losses should be floats: float(loss)"
    assert list(impl.train_on_batch(CONFIG, params, *arrays, 0, 0.01)) == [], "no steps, no losses"


@pytest.mark.hint("grads.flat.fill(0) at the start of every step: loss_and_grads adds to what is there")
def test_the_batch_is_learned_by_heart(impl):
    images, labels = batch(2)
    params = initialise(CONFIG, dtype="float64")
    losses = impl.train_on_batch(CONFIG, params, images, labels, 80, 0.02)
    assert len(losses) == 80, f"expected 80 losses, one for each step, got {len(losses)}"
    assert losses[-1] < 0.02, f"after 80 steps the loss is {losses[-1]:.3f}, expected less than 0.02"
    assert loss_of(params, images, labels) < 0.02, "params has not learned: train it in place, not a copy"


CURVES = {
    "not finite": ([2.3, 1.5, math.nan, 0.1],),
    "wrong start": ([9.3, 2.0, 0.1, 0.01], [2.33, 0.1], [2.27, 0.1], [1.0, 90.0], [0.0, 0.0]),
    "exploded": (
        [2.32, 3.47, 0.1],
        [2.303, 1.4, 67.0, 10.3],
        [2.303, 89.0, 4.0, 0.0],
        [2.303, 3.5, 2.2, 2.2],
        [2.303, 0.5, 3.46],
    ),
    "stuck": ([2.302, 2.301, 2.4, 2.29], [2.32, 2.08], [2.303, 0.1, 2.1], [2.303, 3.4, 3.4], [2.303]),
    "learned": ([2.303, 2.6, 0.5, 0.001], [2.32, 3.4, 0.22], [2.29, 0.01, 0.2]),
    "slow": ([2.303, 2.1, 1.9, 1.67], [2.303, 0.1, 0.24], [2.303, 2.04], [2.303, 0.01, 2.0]),
}


@pytest.mark.hint(
    "go down the table, return at the first line that applies; which losses does it speak of: any, the "
    "first, the largest, the last?"
)
@pytest.mark.parametrize("verdict", CURVES)
def test_diagnosis(impl, verdict):
    for losses in CURVES[verdict]:
        found = impl.diagnose(list(losses), 10)
        assert found == verdict, f"the losses {losses} of 10 classes are {verdict!r}, got {found!r}"
        found = impl.diagnose([loss * math.log(100) / math.log(10) for loss in losses], 100)
        assert found == verdict, (
            f"the losses {losses}, doubled, of 100 classes are {verdict!r}, got {found!r}"
        )


@pytest.mark.hint("look at all losses: np.isfinite(losses).all(); nan is not larger than anything")
@pytest.mark.parametrize(
    "losses",
    [
        [math.nan, math.nan],
        [2.3, 0.1, math.inf],
        [2.3, math.inf, 0.01],
        [math.nan, 2.3, 0.1],
        [9.0, -math.inf],
    ],
)
def test_what_is_not_finite_is_seen_wherever_it_is(impl, losses):
    found = impl.diagnose(losses, 10)
    assert found == "not finite", f"the losses {losses} are 'not finite', got {found!r}"


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
    after["patch.bias"] = before["patch.bias"] + 1e-10  # moved, however little
    old = [before.flat.copy(), after.flat.copy()]
    found = impl.silent_parameters(before, after)
    assert found is not None, "silent_parameters returns None: does it end with a return?"
    assert list(found) == ["position", "blocks.1.mlp.fc2.bias"], f"two are silent, got {found}"
    assert_untouched(old, [before.flat, after.flat], ["before", "after"])


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


def spoiled(name):
    """A training loop with one fault."""

    def train(config, params, images, labels, steps, lr):
        rng = np.random.default_rng(0)
        grads, optimizer, losses = params.zeros_like(), AdamW(params), []
        if name == "weights decay a little":
            optimizer = AdamW(params, weight_decay=0.1)
        for step in range(1, steps + 1):
            if name != "gradients cleared in every second step only" or step % 2:
                grads.flat[:] = 0
            order = rng.permutation(len(labels)) if name == "labels shuffled in every step" else slice(None)
            losses.append(float(loss_and_grads(config, params, images, labels[order], grads)))
            if name == "the optimiser forgets every third step" and step % 3 == 0:
                optimizer = AdamW(params)
            if name != "the last update is left out" or step < steps:
                optimizer.step(grads, lr, step)
        return losses

    return (train,)


WRONG = {
    "gradients cleared in every second step only": "look at more than one step",
    "weights decay a little": "a tolerance as narrow as float64 allows, and weights that are not small",
    "labels shuffled in every step": "a fresh model's first loss is the same whatever the labels",
    "the optimiser forgets every third step": "look at more than three steps",
    "the last update is left out": "every loss is right here: what are the parameters?",
}


@pytest.mark.hint("several steps, from random_params; every loss, and the parameters at the end", **WRONG)
def test_trust_loop(impl):
    assert_trust(
        impl.trust_loop, (SOLUTION.train_on_batch,), {name: spoiled(name) for name in WRONG}, "training loop"
    )


@pytest.mark.puzzle
@pytest.mark.hint(
    "plant one fault after the other in a loop of your own: with the same seeds you get the same losses "
    "(of shuffled labels, only nearly: the file does not say how they were shuffled)"
)
def test_what_went_wrong(impl):
    answer = impl.what_went_wrong()
    assert isinstance(answer, dict) and set(answer) == {"A", "B", "C"}, (
        "expected a dict with the keys A, B and C"
    )
    unknown = [fault for fault in answer.values() if fault not in FAULTS]
    assert not unknown, f"{unknown[0]!r} is none of the FAULTS in runs.py"
    right = sum(SOLUTION.what_went_wrong()[run] == fault for run, fault in answer.items())
    assert right == 3, f"{right} of the three runs are right"
