"""Operations of convolutional networks and whole models against PyTorch in float64: results and gradients."""

import pytest

from tests.golden.convolution_cases import ANSWERS, CASES, MODELS, draw, draw_model
from tests.helpers import distance, stored
from tinyvit import ops
from tinyvit.model import backward, forward


@pytest.fixture(scope="module")
def answers():
    return stored(ANSWERS)


@pytest.mark.parametrize("name", CASES)
def test_results_and_gradients_are_those_of_pytorch(name, answers):
    case = CASES[name]
    inputs, upstream = draw(name)
    y, cache = getattr(ops, case.operation)(*inputs, **case.arguments)
    gradients = getattr(ops, f"{case.operation}_backward")(upstream(y), cache)
    gradients = gradients if isinstance(gradients, tuple) else (gradients,)
    assert len(gradients) == len(inputs)
    assert distance(y, answers[f"{name}/y"]) < 1e-10
    for i, gradient in enumerate(gradients):
        assert distance(gradient, answers[f"{name}/gradient {i}"]) < 1e-10


@pytest.mark.parametrize("name", MODELS)
def test_the_logits_and_every_gradient_of_a_model_are_those_of_pytorch(name, answers):
    params, images, dlogits = draw_model(name)
    logits, cache = forward(MODELS[name], params, images)
    grads = params.zeros_like()
    backward(dlogits, cache, grads)
    assert distance(logits, answers[f"{name}/y"]) < 1e-10
    distances = {key: distance(grads[key], answers[f"{name}/gradient {key}"]) for key in grads}
    assert max(distances.values()) < 1e-10, distances
