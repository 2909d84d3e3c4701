"""Hybrids with timm's names and epsilons against timm: logits, and gradients along random directions."""

from dataclasses import replace

import numpy as np
import pytest

from tests.golden.library_answers import TOLERANCE, error
from tests.golden.timm_hybrids import ANSWERS, HYBRIDS, draw
from tinyvit.model import backward, forward
from tinyvit.weights.torch_names import from_torch_names, to_torch_names


def answers_to(name):
    """The answers of timm for a hybrid: float32, float64, along ..."""
    with np.load(ANSWERS, allow_pickle=False) as file:
        return {key.split("/", 1)[1]: file[key] for key in file.files if key.startswith(f"{name}/")}


def loaded(name, dtype="float64"):
    """The hybrid as tinyvit reads it; images are not square, which no array shows."""
    config = HYBRIDS[name]
    known = {"heads": config.heads, "image_size": config.image_size}
    found = from_torch_names(draw(name)[0], "file", known, dtype)
    assert found[0] == config
    return found


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", HYBRIDS)
def test_logits_are_those_of_timm(name, dtype):
    config, params = loaded(name, dtype)
    images, expected = draw(name)[2].astype(dtype), answers_to(name)[dtype]
    assert error(forward(config, params, images)[0], expected) < TOLERANCE[dtype]


@pytest.mark.parametrize("name", HYBRIDS)
def test_the_epsilons_of_the_official_code_would_give_other_logits(name):
    config, params = loaded(name)
    official = replace(config, resnet_form="official")
    logits, _ = forward(official, params, draw(name)[2].astype("float64"))
    assert error(logits, answers_to(name)["float64"]) > 1e-6


@pytest.mark.parametrize("name", HYBRIDS)
def test_gradients_are_those_of_timm(name):
    config, params = loaded(name)
    _, directions, images, upstream = draw(name)
    _, cache = forward(config, params, images.astype("float64"))
    grads = params.zeros_like()
    backward(upstream, cache, grads)
    found = answers_to(name)
    ours = to_torch_names(config, grads)
    assert {f"along {key}" for key in ours} == found.keys() - {"float32", "float64"}
    for key, gradient in ours.items():
        largest = np.linalg.norm(gradient) * np.linalg.norm(directions[key])
        assert abs((gradient * directions[key]).sum() - found[f"along {key}"]) < 1e-10 * largest + 1e-12, key
