"""tinyvit's logits against those of the official code, for random weights in five models and four hybrids."""

import numpy as np
import pytest

from tests.golden.official_weights import ANSWERS, HYBRID_ANSWERS, HYBRIDS, MODELS, official
from tests.helpers import stored
from tinyvit.engine import CpuEngine
from tinyvit.model import forward
from tinyvit.weights.read import load_weights
from tinyvit.weights.save import save_official


@pytest.fixture(scope="module")
def answers():
    return stored(ANSWERS)


@pytest.mark.parametrize("name", MODELS)
def test_logits_are_those_of_the_official_code(name, answers):
    config = MODELS[name]
    params, images = official(config)
    logits, _ = forward(config, params, images)
    assert logits.shape == answers[name].shape and logits.dtype == np.float32
    assert np.abs(logits - answers[name]).max() < 1e-5 * np.abs(answers[name]).max()


@pytest.mark.parametrize("change", [{"eps": 1e-5}, {"gelu": "exact"}])
def test_another_eps_or_gelu_would_not_pass(change, answers):
    config = MODELS["odd"]
    params, images = official(config)
    changed = type(config)(**(config.as_dict() | change))
    logits, _ = forward(changed, params, images)
    assert np.abs(logits - answers["odd"]).max() > 1e-5 * np.abs(answers["odd"]).max()


def test_the_cpu_engine_gives_the_official_logits_too(answers):
    config = MODELS["gap"]
    params, images = official(config)
    logits = CpuEngine(config, params, threads=2, micro_batch=1).logits(images)
    assert np.abs(logits - answers["gap"]).max() < 1e-5 * np.abs(answers["gap"]).max()


@pytest.mark.parametrize("name", HYBRIDS)
def test_the_logits_of_a_hybrid_are_those_of_the_official_code(name, tmp_path):
    params, images = official(HYBRIDS[name])
    save_official(tmp_path / "hybrid.npz", HYBRIDS[name], params)
    config, loaded = load_weights(tmp_path / "hybrid.npz", image_size=HYBRIDS[name].image_size)
    assert config == HYBRIDS[name]
    logits, _ = forward(config, loaded, images)
    expected = stored(HYBRID_ANSWERS)[name]
    assert logits.shape == expected.shape and logits.dtype == np.float32
    assert np.abs(logits - expected).max() < 1e-5 * np.abs(expected).max()
