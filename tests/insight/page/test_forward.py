"""The page's two passes in node, without a browser: they compute what Python does, for any plain ViT."""

import json
import math
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from tests.helpers import any_models, distance, seeds
from tests.insight.page.pages import expected, expected_gradient, page_of, pixels_for, random_model
from tinyvit import Model
from tinyvit.data import normalise
from tinyvit.gradcheck import random_params
from tinyvit.insight.page.contents import check_page_can_run
from tinyvit.model import initialise, stages
from tinyvit.model.stage import forward_through
from tinyvit.support.errors import UserError

HARNESS = Path(__file__).with_name("forward.mjs")
MODELS = {
    "token": {},
    "mean": {"pool": "mean", "gelu": "exact", "pre_logits": 7, "eps": 1e-3},
    "wider": {"image_size": (8, 20), "heads": 2},
    "taller": {"image_size": (20, 8), "pool": "mean"},
    "2d": {"position": "2d", "pool": "mean"},
    "2d in blocks": {"position": "2d", "position_at": "blocks"},
    "1d shared": {"position_at": "shared"},
    "1d in blocks": {"position_at": "blocks"},
    "sincos": {"position": "sincos", "image_size": (12, 16)},
    "relative": {"position": "relative"},
    "relative shared": {"position": "relative", "position_at": "shared", "pool": "mean"},
    "no positions": {"position": "none"},
}
CHANGES = (
    {},
    {"covered": [0, 3]},
    {"order": "reversed"},
    {"positions": False},
    {"off": ["0.1", "1.0"]},
    {"order": "reversed", "covered": [1], "off": ["1.1"], "positions": False},
)


@pytest.fixture(scope="module")
def in_node(tmp_path_factory):
    """in_node(model, jobs): what the page's functions compute for (pixels, changes), each with class 1."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node to run JavaScript with")
    folder = tmp_path_factory.mktemp("node")

    def run(model, jobs):
        page, file = page_of(model, folder / "page.html"), folder / "jobs.json"
        jobs = [
            {"pixels": pixels.ravel().tolist(), "changes": changes, "target": 1} for pixels, changes in jobs
        ]
        file.write_text(json.dumps(jobs))
        done = subprocess.run([node, HARNESS, page, file], capture_output=True, text=True, timeout=100)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


@pytest.mark.parametrize("kind", MODELS)
def test_it_agrees_with_python(in_node, kind):
    """Logits and attention of a picture as it is, and with everything that the page can change."""
    model = random_model(**MODELS[kind])
    config = model.config
    pixels = pixels_for(model, len(CHANGES))
    changes = [
        {**each, "order": list(range(config.patches))[::-1]} if "order" in each else each for each in CHANGES
    ]
    found = in_node(model, list(zip(pixels, changes, strict=True)))
    for image, change, answer in zip(pixels, changes, found["answers"], strict=True):
        logits, attention = expected(model, image[None], **change)
        np.testing.assert_allclose(answer["logits"], logits[0], rtol=1e-4, atol=1e-4)
        seen = np.reshape(answer["attention"], attention[0].shape)
        np.testing.assert_allclose(seen, attention[0], atol=1e-5)
        gradient = expected_gradient(model, image[None], 1, **change)
        assert distance(np.array(answer["gradient"]), gradient.ravel()) < 1e-5
    back = found["answers"][0]["back"]
    assert back == {name: size for name, (size, _) in found["answers"][0]["seen"].items() if name in back}
    assert [*back] == [step["name"] for step in found["steps"]][-2::-1]  # from the logits to the pixels
    for step in found["steps"]:  # everything that is explained is also shown, in the shape that is stated
        size, shape = found["answers"][0]["seen"].pop(step["name"])
        assert size == math.prod(shape) == math.prod(shape_of(step["shape"], config))
    assert found["answers"][0]["seen"] == {}


@settings(max_examples=40)
@given(config=any_models(), seed=seeds())
def test_whatever_it_accepts_it_computes_as_python_does(in_node, config, seed):
    try:
        check_page_can_run(config)
    except UserError:
        return
    rng = np.random.default_rng(seed)
    model = Model(config, random_params(config, rng, "float32"), tuple(map(str, range(config.classes))))
    image = rng.integers(0, 256, (*config.image_size, 3), dtype=np.uint8)
    answer = in_node(model, [(image, {})])["answers"][0]
    assert distance(np.array(answer["logits"]), expected(model, image[None])[0][0]) < 1e-3
    in_double = Model(config, initialise(config, dtype="float64"))
    in_double.params.flat[:] = model.params.flat
    exact, rounded = (each.input_gradient(image[None], [1]).ravel() for each in (in_double, model))
    lost = distance(rounded, exact)  # by float32, in Python
    gradient = 2 * np.array(answer["gradient"])  # of pixels from 0 to 1
    assert distance(gradient, exact) < max(1e-5, 3 * lost)


def shape_of(letters, config):
    """The numbers for a shape such as (N, 3D)."""
    P, (H, W) = config.patch_size, config.image_size
    known = {
        **{"(H, W, 3)": (H, W, 3), "(T, P P 3)": (config.patches, P * P * 3)},
        **{"(H, N, N)": (config.heads, config.tokens, config.tokens), "(D,)": (config.width,)},
        **{"(N, 3D)": (config.tokens, 3 * config.width), "(F,)": (config.pre_logits,)},
        **{"(T, D)": (config.patches, config.width), "(C,)": (config.classes,)},
        **{"(N, D)": (config.tokens, config.width), "(N, M)": (config.tokens, config.mlp_width)},
    }
    return known[letters]


def test_rollout_lengths_of_values_and_erf(in_node):
    """They agree with their definitions; for rollout, a head that is off draws nothing."""
    model = random_model(layers=3)
    config = model.config
    image = pixels_for(model, 1)[0]
    whole_block_off = {"off": [f"0.{h}" for h in range(config.heads)]}
    found = in_node(model, [(image, {}), (image, whole_block_off)])
    for answer, changes in zip(found["answers"], ({}, whole_block_off), strict=True):
        means = expected(model, image[None], **changes)[1][0].astype(np.float64).mean(axis=1)
        if changes:
            means[0] = 0
        total = np.eye(config.tokens)
        for mean, rolled in zip(means, answer["rollout"], strict=True):
            mixture = mean + np.eye(config.tokens)
            total = mixture / mixture.sum(axis=1, keepdims=True) @ total
            np.testing.assert_allclose(np.reshape(rolled, total.shape), total, atol=1e-5)
    every = stages(config, all_tokens=True)
    _, caches = forward_through(every, model.params, normalise(image[None], np.float32))
    blocks = [cache for each, cache in zip(every, caches, strict=True) if each.name.startswith("blocks.")]
    for (_, attention, *_), lengths in zip(blocks, found["answers"][0]["lengths"], strict=True):
        values = attention[1][2][0]  # (H, N, K)
        np.testing.assert_allclose(lengths, np.linalg.norm(values, axis=-1).ravel(), rtol=1e-4)
    for x, y in found["erf"]:
        assert y == pytest.approx(math.erf(x), abs=3e-7)


def test_dropping_positions_makes_a_set_of_the_patches(in_node):
    """Then their order does not matter; with positions it does."""
    model = random_model()
    image = pixels_for(model, 1)[0]
    order = np.random.default_rng(3).permutation(model.config.patches).tolist()
    drop = {"positions": False}
    jobs = [(image, {}), (image, {"order": order}), (image, drop), (image, drop | {"order": order})]
    plain, shuffled, set_, shuffled_set = (a["logits"] for a in in_node(model, jobs)["answers"])
    np.testing.assert_allclose(set_, shuffled_set, atol=1e-5)
    assert np.abs(np.subtract(plain, shuffled)).max() > 1e-2


def test_a_large_model_is_rounded_to_float16(in_node, monkeypatch):
    """It agrees with Python on the rounded parameters."""
    monkeypatch.setattr("tinyvit.insight.page.contents.IN_FULL", 10)
    model = random_model()
    image = pixels_for(model, 1)[0]
    found = in_node(model, [(image, {})])["answers"][0]["logits"]
    assert np.abs(found - model.logits(image)[0]).max() > 1e-5
    model.params.flat[:] = model.params.flat.astype(np.float16)
    np.testing.assert_allclose(found, model.logits(image)[0], rtol=1e-4, atol=1e-4)
