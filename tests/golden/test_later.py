"""ViTs that came after the paper's, against transformers and timm, through the files that these write."""

import contextlib
import re

import numpy as np
import pytest

from tests.golden.library_answers import (
    HERE,
    TOLERANCE,
    answers_to,
    error,
    gradients_of_file,
    logits_of_file,
    weights_of,
)
from tinyvit.engine import CpuEngine
from tinyvit.support.errors import UserError
from tinyvit.weights.description import read_description
from tinyvit.weights.safetensors import read_safetensors
from tinyvit.weights.torch_names import from_torch_names

LATER = HERE / "later"
NAMES = sorted(path.name for path in LATER.iterdir())
HEADLESS = {"dinov3", "siglip"}
TURNED = {"dinov3", "dinov3_timm", "eva02", "pe_core", "rope_mixed"}  # whose libraries turn in float32 always
every_dtype = pytest.mark.parametrize("dtype", TOLERANCE)


@every_dtype
@pytest.mark.parametrize("name", NAMES)
def test_what_a_file_computes_is_what_its_library_does(name, dtype):
    found = answers_to("later", name)
    ours = logits_of_file(LATER / name / "model.safetensors", found["images"], dtype, name in HEADLESS)
    assert error(ours, found[dtype]) < (1e-6 if name in TURNED and dtype == "float64" else TOLERANCE[dtype])


@pytest.mark.parametrize("name", NAMES)
def test_an_array_of_any_shape_is_read_or_a_users_mistake(name):
    """As in a file of another architecture that has some of the same names, such as ViTamin's."""
    path = LATER / name / "model.safetensors"
    arrays, known = read_safetensors(path), read_description(path.with_name("config.json"))
    once = [each for each in arrays if not re.search(r"\.1\.|text_model", each)]  # of two blocks, one
    for i, each in enumerate(once):
        array = arrays[each]
        others = np.ones(()), np.ones((*array.shape, 0)), array[None], array.reshape(-1), np.ones(3)
        for other in (others[i % 5], others[(i + 2) % 5]):
            with contextlib.suppress(UserError):
                from_torch_names(arrays | {each: other}, "file", dict(known), described=True)


@pytest.mark.parametrize("name", NAMES)
def test_every_gradient_is_that_of_pytorch(name):
    """PyTorch's gradients are read as if they were weights, so that they have our names and shapes."""
    found = answers_to("later", name)
    theirs = {key.removeprefix("gradient/"): array for key, array in found.items() if "gradient/" in key}
    if not theirs:
        pytest.skip("no gradients are stored")
    path = LATER / name / "model.safetensors"
    _, grads = gradients_of_file(path, found, "float64")
    known = read_description(path.with_name("config.json"))
    _, expected = from_torch_names(theirs, name, known, "float64", described=True)
    largest = max(np.linalg.norm(array) for array in expected.values())
    for part, array in expected.items():
        tolerance = (1e-5 if name in TURNED else 1e-9) * max(np.linalg.norm(array), 1e-2 * largest)
        assert np.linalg.norm(grads[part] - array) < tolerance, part


@pytest.mark.parametrize("name", NAMES)
def test_the_cpu_engine_computes_the_same(name, monkeypatch):
    found = answers_to("later", name)
    monkeypatch.setattr(CpuEngine, "least_tokens_to_fold", 1)
    config, params = weights_of(LATER / name / "model.safetensors", "float64")
    engine = CpuEngine(config, params, threads=1)
    images = found["images"].astype("float64")
    ours = engine.features(images) if name in HEADLESS else engine.logits(images)
    assert error(ours, found["float64"]) < (1e-6 if name in TURNED else 1e-10)
