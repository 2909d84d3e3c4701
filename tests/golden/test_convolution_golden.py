"""The operations of convolutional networks against PyTorch in float64: results and gradients."""

import numpy as np
import pytest

from tests.golden.convolution_cases import ANSWERS, CASES, draw
from tests.helpers import distance
from tinyvit import ops


@pytest.fixture(scope="module")
def answers():
    with np.load(ANSWERS, allow_pickle=False) as file:
        return dict(file)


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
