"""The few-shot probe: closed forms against a direct solution, by hand, and as a user runs it."""

import json
import re
import shutil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tinyvit
from tests.helpers import seeds, tiny_config
from tests.tiny_runs import assert_one_line, enter
from tinyvit import engine as engines
from tinyvit import fewshot
from tinyvit.api import Model
from tinyvit.data import normalise
from tinyvit.insight.few_shot import CONSTANT, RIDGE, choose_shots, fit_probe, ridge_weights
from tinyvit.model import Params, forward, initialise, layout, preset
from tinyvit.ops.resize import resize_images
from tinyvit.support.errors import UserError
from tinyvit.weights.save import save_official

# The probe.


@given(n=st.integers(1, 12), F=st.integers(1, 12), C=st.integers(1, 4), seed=seeds())
def test_both_closed_forms_solve_the_ridge_regression(n, F, C, seed):
    rng = np.random.default_rng(seed)
    X, Y, ridge = rng.standard_normal((n, F)), rng.standard_normal((n, C)), rng.uniform(0.1, 10)
    W = np.linalg.solve(X.T @ X + ridge * np.eye(F), X.T @ Y)
    np.testing.assert_allclose(ridge_weights(X, Y, ridge), W, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("n", [6, 40])
def test_a_probe_is_the_regression_of_targets_on_standardised_features(n):
    rng = np.random.default_rng(n)
    features = rng.normal(3, 2, (n, 10)).astype(np.float32)
    labels = np.arange(n) % 3
    probe = fit_probe(features, labels, 3)
    x = features.astype(float)
    x = (x - x.mean(axis=0)) / (x.std(axis=0) + 1e-5)
    X = np.column_stack([x, np.full(n, 100)])
    Y = np.where(labels[:, None] == [0, 1, 2], 1, -1)
    W = np.linalg.solve(X.T @ X + 1024 * np.eye(11), X.T @ Y)
    np.testing.assert_allclose(probe.weights, W, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(probe.scores(features), X @ W, rtol=1e-8, atol=1e-8)


def test_two_images_by_hand():
    """Features -1 and 1, standardised as they are: the offset is 0, the slope 2 / (2 + ridge)."""
    probe = fit_probe(np.array([[-1.0], [1.0]]), np.array([0, 1]), 2, ridge=6.0)
    np.testing.assert_allclose(probe.weights, [[-0.25, 0.25], [0, 0]], atol=1e-5)
    np.testing.assert_allclose(probe.scores(np.array([[3.0]])), [[-0.75, 0.75]], atol=1e-4)


def test_the_constant_column_carries_the_offset():
    """Features that say nothing: every score is nearly the mean target, 2 / 4 - 1 = -1/2 in class 0."""
    probe = fit_probe(np.ones((4, 3)), np.array([0, 1, 2, 3]), 4)
    expected = -0.5 * 4 * CONSTANT**2 / (4 * CONSTANT**2 + RIDGE)
    np.testing.assert_allclose(probe.scores(np.ones((1, 3))), np.full((1, 4), expected), rtol=1e-9)


@pytest.mark.parametrize("shots", [2, 30])
def test_separable_classes_are_separated(shots):
    rng = np.random.default_rng(0)
    centres, labels = 5 * rng.standard_normal((4, 20)), np.arange(4 * shots) % 4
    features = centres[labels] + 0.1 * rng.standard_normal((len(labels), 20))
    probe = fit_probe(features, labels, 4)
    others = rng.integers(0, 4, 500)
    assert probe.accuracy(centres[others] + 0.1 * rng.standard_normal((500, 20)), others) == 1


def test_accuracy_is_the_share_that_is_right():
    probe = fit_probe(np.array([[-1.0], [1.0]]), np.array([0, 1]), 2)
    assert probe.accuracy(np.array([[-3.0], [-2.0], [2.0], [3.0]]), np.array([0, 1, 1, 1])) == 0.75


def test_features_that_never_change_do_no_harm():
    features = np.column_stack([np.array([-1.0, 1.0, -2.0, 2.0]), np.zeros(4)])
    assert fit_probe(features, np.array([0, 1, 0, 1]), 2).accuracy(features, np.array([0, 1, 0, 1])) == 1


def test_shots_are_of_every_class_and_more_shots_include_fewer():
    labels = np.random.default_rng(0).integers(0, 3, 60)
    one, five = choose_shots(labels, "abc", 1, seed=4), choose_shots(labels, "abc", 5, seed=4)
    assert np.bincount(labels[five]).tolist() == [5, 5, 5]
    assert len(set(five)) == 15
    assert set(one) < set(five)
    assert (choose_shots(labels, "abc", 5, seed=4) == five).all()
    assert (choose_shots(labels, "abc", 5, seed=5) != five).any()
    with pytest.raises(UserError, match="b has 2"):
        choose_shots(np.array([0, 0, 0, 1, 1]), "ab", 3, 0)


# Features.


def knowing(config, seed=0):
    """A model whose head is not zero, and whose tokens differ."""
    params = initialise(config, seed)
    rng = np.random.default_rng(seed)
    params.flat[...] += 0.1 * rng.standard_normal(params.count).astype(np.float32)
    return params


@pytest.mark.parametrize("changes", [{}, {"pool": "mean"}, {"pre_logits": 7}], ids=str)
def test_features_are_what_the_head_multiplies(changes, monkeypatch):
    monkeypatch.setattr(engines, "_MOST_IMAGES", 4)  # batches of 4, 4 and 2
    config = tiny_config(**changes)
    params = knowing(config)
    images = np.random.default_rng(1).integers(0, 256, (10, 8, 8, 3), dtype=np.uint8)
    features = Model(config, params, threads=1).features(images)
    assert features.shape == (10, changes.get("pre_logits", 12))
    logits, _ = forward(config, params, normalise(images, np.float32))
    np.testing.assert_allclose(
        features @ params["head.weight"] + params["head.bias"], logits, rtol=1e-4, atol=1e-5
    )


def test_images_of_another_size_are_resized():
    config = tiny_config()
    params = knowing(config)
    images = np.random.default_rng(1).integers(0, 256, (3, 5, 6, 3), dtype=np.uint8)
    features = Model(config, params).features(images)
    _, cache = forward(config, params, resize_images(normalise(images, np.float32), (8, 8)))
    np.testing.assert_allclose(features, cache.of("head")[0], rtol=1e-4, atol=1e-5)


def test_features_on_the_gpu(gpu):
    config = tiny_config()
    images = np.random.default_rng(1).integers(0, 256, (9, 8, 8, 3), dtype=np.uint8)
    model = Model(config, knowing(config))
    found = model.to(gpu).features(images)
    assert isinstance(found, np.ndarray)
    np.testing.assert_allclose(found, model.features(images), rtol=1e-3, atol=1e-4)


# The command.


@pytest.fixture
def go(capsys, monkeypatch):
    return lambda *argv: enter(fewshot, capsys, monkeypatch, *argv)


@pytest.fixture
def weights(tmp_path):
    """A model that sees colour: its features are a random map of the patches and little else."""
    config = preset("nano/4", 8, 5)
    path = tmp_path / "w.npz"
    save_official(path, config, initialise(config))
    return path


def folder(photos, *more):
    return ("--dataset", "folder", "--data-dir", photos, "--device", "cpu", "--threads", "1", *more)


def rows(out):
    """shots -> (images, accuracy, spread or ''); without a spread there is an interval."""
    after = r"(?: ± ([\d.]+)| \(95% interval [\d.]+ to [\d.]+\))"
    found = re.findall(rf"^ +(\d+) +(\d+) +([\d.]+)%{after}$", out, re.MULTILINE)
    return {int(n): (int(images), float(acc), spread and float(spread)) for n, images, acc, spread in found}


def test_the_command_prints_a_row_for_each_number_of_shots(go, photos, weights):
    status, out, err = go(weights, *folder(photos))
    assert (status, err) == (0, "")
    assert "2 classes, 8 test images; chance is 50.0%" in out
    table = rows(out)
    assert {n: row[0] for n, row in table.items()} == {1: 2, 5: 10, 10: 20}  # of 16 there are no 25
    assert table[10][1] > 80
    assert out.endswith("mean and standard deviation over 3 choices of the training images\n")


def test_the_rows_are_what_the_probe_gives_directly(go, photos, weights, monkeypatch):
    seen = []

    def watched(features, labels, classes, **more):
        seen.append((features.shape, np.bincount(labels).tolist()))
        return fit_probe(features, labels, classes, **more)

    monkeypatch.setattr(fewshot, "fit_probe", watched)
    _, out, _ = go(weights, *folder(photos, "--shots", "3", "1", "3", "--seeds", "1"))
    assert seen == [((2, 64), [1, 1]), ((6, 64), [3, 3])]
    assert all(spread == "" for _, _, spread in rows(out).values())
    assert "deviation" not in out


def test_a_model_can_be_asked_at_another_resolution(go, photos, weights):
    status, out, _ = go(weights, *folder(photos, "--resolution", "16", "--shots", "5"))
    assert status == 0
    assert list(rows(out)) == [5]
    assert_one_line(go(weights, *folder(photos, "--resolution", "18")), "(--resolution) of 16 or 20")


def test_mistakes_are_one_line(go, photos, weights, tmp_path):
    assert_one_line(go(weights, *folder(photos, "--shots", "17")), "blue has 16", "--shots")
    assert_one_line(go(tmp_path / "none.npz", *folder(photos)), "none.npz")
    assert_one_line(go("nonsense", *folder(photos)), "nonsense", "known")
    assert_one_line(go(weights, "--dataset", "folder"), "--data-dir")
    assert_one_line(go(), "WEIGHTS")
    assert_one_line(go(weights, "--seeds", "0"), "--seeds")


def test_a_class_without_images_to_learn_from_is_named(go, tmp_path, weights):
    images = np.zeros((30, 8, 8, 3), np.uint8)
    np.savez(tmp_path / "d.npz", x=images, y=np.array([0, 2] * 15), classes=np.array(["a", "b", "c"]))
    assert_one_line(go(weights, "--dataset", "arrays", "--data-dir", tmp_path / "d.npz"), "b has 0")


def test_features_that_are_no_numbers_have_no_accuracy(go, photos, tmp_path):
    model = tinyvit.preset("nano/4", 8, 5)
    model.params["norm.weight"][:] = 2e38
    model.save(tmp_path / "inf.npz")
    assert_one_line(go(tmp_path / "inf.npz", *folder(photos)), "the model's answer is not a number")


def test_a_head_of_any_size_is_put_aside():
    """Models that differ in their heads alone have the same features."""
    one, other = tiny_config(classes=3), tiny_config(classes=9)
    params = knowing(one)
    twin = Params.zeros(layout(other))
    for name in twin:
        if not name.startswith("head"):
            twin[name] = params[name]
    images = np.random.default_rng(0).integers(0, 256, (4, 8, 8, 3), dtype=np.uint8)
    np.testing.assert_array_equal(Model(one, params).features(images), Model(other, twin).features(images))


@pytest.mark.parametrize("what", ["", "best.npz"])
def test_a_run_is_tested_with_images_that_it_was_not_trained_on(go, trained, tmp_path, monkeypatch, what):
    """They were held out from the photos by the seed of the run."""
    shutil.copytree(trained, tmp_path / "run")
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    config["settings"]["seed"] = 5
    (tmp_path / "run" / "config.json").write_text(json.dumps(config))
    seeds = []
    monkeypatch.setattr(fewshot, "load_dataset", lambda *args, seed, **more: seeds.append(seed) or exit(7))
    assert go(tmp_path / "run" / what)[0] == 7
    (tmp_path / "run" / "best.npz").rename(tmp_path / "alone.npz")
    assert go(tmp_path / "alone.npz")[0] == 7
    assert seeds == [5, 0]
