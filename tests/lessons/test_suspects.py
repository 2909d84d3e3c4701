"""The wrong pairs that a learner's own check is to distrust: they run on inputs of any size."""

import importlib

import numpy as np
import pytest

LAYER_NORM = importlib.import_module("lessons.07_layer_norm.suspects")
MULTI_HEAD = importlib.import_module("lessons.06_attention.test_lesson")
HEADS = "it always takes two heads (or, where D is odd, another wrong number)"


@pytest.mark.parametrize("name", LAYER_NORM.WRONG)
@pytest.mark.parametrize(
    "shape", [(5,), (1,), (1, 5), (4, 1), (2, 3, 5), (2, 3, 2, 4), (2, 1, 3, 2, 2)], ids=str
)
def test_layer_norm_of_any_shape(name, shape):
    rng = np.random.default_rng(0)
    x, weight, bias = rng.normal(size=shape), rng.normal(size=shape[-1]), rng.normal(size=shape[-1])
    forward, backward = LAYER_NORM.WRONG[name]
    y, cache = forward(x, weight, bias, eps=0.5)
    gradients = backward(rng.normal(size=y.shape), cache)
    assert [gradient.shape for gradient in gradients] == [x.shape, weight.shape, bias.shape]


@pytest.mark.parametrize("name", MULTI_HEAD.WRONG)
@pytest.mark.parametrize(
    "size", [(2, 3, 15, 3), (2, 3, 15, 1), (2, 3, 5, 5), (1, 1, 1, 1), (2, 4, 6, 1)], ids=str
)
def test_attention_of_any_size(name, size):
    *shape, heads = size
    arrays = MULTI_HEAD.tokens_and_weights(*shape)
    forward, backward = MULTI_HEAD.WRONG[name]
    y, cache = forward(*arrays.values(), heads)
    assert y.shape == arrays["x"].shape
    assert [g.shape for g in backward(y, cache)] == [array.shape for array in arrays.values()]


@pytest.mark.parametrize(("D", "heads"), [(15, 3), (15, 1), (15, 15), (5, 1), (6, 1), (6, 3), (6, 6)])
def test_the_number_of_heads_is_wrong(D, heads):
    arrays = MULTI_HEAD.tokens_and_weights(2, 3, D)
    y, _ = MULTI_HEAD.WRONG[HEADS][0](*arrays.values(), heads)
    assert np.abs(y - MULTI_HEAD.head_by_head(*arrays.values(), heads)).max() > 1e-3
