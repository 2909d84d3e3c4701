"""tinyvit against PyTorch in float64: logits, loss, every gradient, twenty steps of training."""

import numpy as np
import pytest

from tests.golden.torch_cases import ANSWERS, CASES, CLIP, PEAK, STEPS, WARMUP, WEIGHT_DECAY, draw
from tests.helpers import distance, stored
from tinyvit.model import forward
from tinyvit.objectives import loss_and_grads
from tinyvit.optim import AdamW, clip_norm, learning_rate

every_case = pytest.mark.parametrize("name", CASES)


@pytest.fixture(scope="module")
def answers():
    return stored(ANSWERS)


@every_case
def test_logits_and_loss_are_those_of_pytorch(name, answers):
    case = CASES[name]
    params, [(images, labels), *_] = draw(case)
    logits, _ = forward(case.config, params, images)
    assert distance(logits, answers[f"{name}/logits"]) < 1e-10
    loss = loss_and_grads(case.config, params, images, labels, params.zeros_like(), case.smoothing)
    assert abs(loss / answers[f"{name}/loss"] - 1) < 1e-10


@every_case
def test_every_gradient_is_that_of_autograd(name, answers):
    case = CASES[name]
    params, [(images, labels), *_] = draw(case)
    grads = params.zeros_like()
    loss_and_grads(case.config, params, images, labels, grads, case.smoothing)
    distances = {key: distance(grads[key], answers[f"{name}/gradient/{key}"]) for key in grads}
    assert max(distances.values()) < 1e-10, distances


@every_case
def test_twenty_training_steps_have_the_losses_of_pytorch(name, answers):
    case = CASES[name]
    params, batches = draw(case)
    optimizer, grads, losses = AdamW(params, weight_decay=WEIGHT_DECAY), params.zeros_like(), []
    for step, (images, labels) in enumerate(batches, start=1):
        grads.flat[...] = 0
        losses.append(loss_and_grads(case.config, params, images, labels, grads, case.smoothing))
        assert clip_norm(grads, CLIP) > 0
        optimizer.step(grads, learning_rate(step, STEPS, PEAK, WARMUP), step)
    np.testing.assert_allclose(losses, answers[f"{name}/losses"], rtol=1e-9)
