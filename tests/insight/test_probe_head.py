"""A probe as the head of its model: the same answers, and as sure as they are right."""

import json

import numpy as np
import pytest

from tests.tiny_runs import assert_one_line
from tests.weights.checkpoints import random_model
from tinyvit import evaluate, fewshot, load, predict
from tinyvit.api import Model
from tinyvit.data.photos import fit_for
from tinyvit.insight.few_shot import fit_probe, fitted_scale, with_probe
from tinyvit.model import initialise, preset
from tinyvit.ops import softmax
from tinyvit.training.evaluation import calibration_error, reliability
from tinyvit.weights.save import save_official

MODELS = {
    "class token": {},
    "mean": {"pool": "mean"},
    "no head": {"classes": 1},
    "no bias": {"head_bias": False},
    "pre_logits": {"pre_logits": 7},
    "two heads": {"pool": "distilled"},
    "both": {"pool": "both"},
    "attention": {"pool": "attention"},
    "embedding": {"predicts": "embedding", "head_bias": False, "classes": 7},
    "embedding as wide as the model": {"predicts": "embedding", "classes": 12},
    "patches": {"predicts": "patches"},
    "patches without a token": {"predicts": "patches", "pool": "mean"},
}


@pytest.mark.parametrize("changes", MODELS.values(), ids=MODELS.keys())
def test_the_models_logits_are_the_scores_times_one_number(changes, tmp_path):
    config, params = random_model(**changes)
    rng = np.random.default_rng(1)
    model = Model(config, params, threads=1)
    model.photo_fit = fit_for((8, 8), None)
    images = rng.integers(0, 256, (30, 8, 8, 3), dtype=np.uint8)
    labels, features = np.arange(30) % 3, model.features(images)
    with_probe(model, features, labels, ["a", "b", "c"]).save(tmp_path / "probe.npz")
    saved = load(tmp_path / "probe.npz", threads=1)
    assert saved.classes == ("a", "b", "c") and saved.photo_fit is None
    scores = fit_probe(features, labels, 3).scores(features)
    logits = saved.logits(images)
    s = fitted_scale(features, labels, 3)
    np.testing.assert_allclose(logits, s * scores, rtol=1e-3, atol=1e-3 * s * np.abs(scores).max())
    assert (saved.predict(images) == np.array(["a", "b", "c"])[scores.argmax(axis=1)]).mean() > 0.95
    assert model.config is config and model.params is params  # the model itself is not changed


def clouds(seed, n, C=4, far=1.0):
    """Features (n, 8) of classes that lie apart, or overlap, and labels (n,), as many of each class."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % C
    return far * np.eye(C, 8)[labels] + rng.standard_normal((n, 8)), labels


@pytest.mark.parametrize("shots", [5, 40])
@pytest.mark.parametrize("far", [1.0, 3.0, 20.0])
def test_it_is_as_sure_as_it_is_right_on_images_that_it_has_not_seen(shots, far):
    """On the mean of several choices of them, for classes that overlap much, little and not at all."""
    errors, raw = [], []
    for seed in range(10):
        features, labels = clouds(seed, 4 * shots, far=far)
        others, truth = clouds(seed + 100, 2000, far=far)
        scores = fit_probe(features, labels, 4).scores(others)
        p = softmax(fitted_scale(features, labels, 4) * scores)[0]
        errors.append(p.max(axis=1).mean() - (p.argmax(axis=1) == truth).mean())
        raw.append(calibration_error(reliability(softmax(scores)[0], truth)))
    assert abs(np.mean(errors)) < 0.06
    assert far == 1.0 or abs(np.mean(errors)) < 0.5 * np.mean(raw)


def test_the_scale_is_likeliest_for_what_was_held_out():
    """Two images of each class: each of the two halves gets its scores from the other."""
    features, labels = clouds(0, 8, far=3.0)
    first = np.arange(8) < 4
    z = np.empty((8, 4))
    for out in (first, ~first):
        z[out] = fit_probe(features[~out], labels[~out], 4).scores(features[out])
    t = np.where(labels[:, None] == np.arange(4), 9 / 10, 1 / 30)
    grid = np.geomspace(1, 1000, 3000)
    loss = [-(t * np.log(softmax(s * z)[0])).sum() for s in grid]
    assert 1.5 < grid[np.argmin(loss)] < 900
    assert fitted_scale(features, labels, 4) == pytest.approx(grid[np.argmin(loss)], rel=0.005)


def test_one_image_of_a_class_leaves_nothing_to_hold_out():
    features, labels = clouds(0, 12, far=9.0)
    assert fitted_scale(features[:4], labels[:4], 4) == 1
    assert fitted_scale(features[:7], labels[:7], 4) == 1  # there are two images of most classes
    assert fitted_scale(features[:8], labels[:8], 4) > 1


def test_labels_that_mean_nothing_leave_the_model_unsure():
    rng = np.random.default_rng(0)
    features, labels = rng.standard_normal((400, 8)), np.arange(400) % 4
    assert fitted_scale(features, labels, 4) < 3


# The command.


@pytest.fixture
def weights(tmp_path):
    config = preset("nano/4", 8, 5)
    save_official(tmp_path / "w.npz", config, initialise(config))
    return tmp_path / "w.npz"


def test_a_saved_probe_is_a_model_like_any_other(go, photos, weights, tmp_path):
    saved, flags = tmp_path / "probe.npz", ("--dataset", "folder", "--data-dir", photos, "--device", "cpu")
    status, out, err = go(fewshot, weights, *flags, "--shots", "10", "2", "--seeds", "1", "--save", saved)
    assert (status, err) == (0, "")
    *_, row, last = out.splitlines()
    accuracy = row.split(maxsplit=2)[2]
    assert "% (95% interval " in accuracy
    assert last == f"wrote {saved}, learned from 10 images of each class: test accuracy {accuracy}"
    result = json.loads(go(evaluate, "--weights", saved, "--data-dir", photos, "--json")[1])
    assert [each["name"] for each in result["classes"]] == ["blue", "red"]
    assert result["accuracy"] > 0.8 and result["images"] == 40
    shown = go(predict, "--weights", saved, photos / "red" / "0.png", "--top", "1")[1]
    assert shown.splitlines()[1].split()[1] == "red"
    assert go(fewshot, weights, *flags, "--shots", "1", "--save", saved)[0] == 0  # its own is replaced


def test_nothing_else_is_replaced_and_nothing_computed_first(go, photos, weights, tmp_path, monkeypatch):
    monkeypatch.setattr(fewshot, "load", lambda *args, **named: pytest.fail("it was loaded"))
    (tmp_path / "mine.npz").write_text("mine")
    for name, words in (("mine.npz", "will not be overwritten"), ("probe.txt", "expected .npz")):
        result = go(fewshot, weights, "--dataset", "folder", "--data-dir", photos, "--save", tmp_path / name)
        assert_one_line(result, words)
    assert (tmp_path / "mine.npz").read_text() == "mine"
