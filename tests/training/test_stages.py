"""The stages of a run: one model, whose steps see small images at first, then some patches, then all."""

import numpy as np
import pytest

from tests.tiny_runs import assert_one_line, assert_same_run, interrupted_after, tiny
from tinyvit.engine import ReferenceEngine
from tinyvit.errors import UserError
from tinyvit.model import initialise, preset, vit
from tinyvit.model.stem import stem
from tinyvit.ops import Noise
from tinyvit.runs.settings import Settings
from tinyvit.training import evaluation
from tinyvit.training.stages import Course, half_size, mean_cost, stages_of

HALF = ("--position", "sincos", "--pool", "mean", "--half-size", "0.4")  # the first of 3 epochs


@pytest.fixture
def run(command, photos, tmp_path):
    assert command(*tiny(photos, tmp_path / "run", *HALF))[0] == 0
    return tmp_path / "run"


def test_the_first_epochs_see_half_the_height_and_width(command, photos, tmp_path, monkeypatch):
    """In training and in evaluation; all of them learn with one set of weights."""
    trained, judged, take_step, evaluate = [], [], ReferenceEngine.step, evaluation.evaluate

    def step(self, plan, lr):
        trained.append((self.config.image_size, self.params.flat.ctypes.data))
        return take_step(self, plan, lr)

    def judge(engine, *more):
        judged.append(engine.config.image_size)
        return evaluate(engine, *more)

    monkeypatch.setattr(ReferenceEngine, "step", step)
    monkeypatch.setattr(evaluation, "evaluate", judge)
    assert command(*tiny(photos, tmp_path / "run", *HALF))[0] == 0
    assert [size for size, _ in trained] == [(4, 4)] * 4 + [(8, 8)] * 8
    assert len({place for _, place in trained}) == 1
    assert judged == [(4, 4), (8, 8), (8, 8)]


@pytest.mark.parametrize("step", [2, 4, 6])
def test_a_run_that_is_stopped_before_or_after_the_change_ends_the_same(
    run, command, photos, tmp_path, monkeypatch, step
):
    with interrupted_after(monkeypatch, step):
        assert command(*tiny(photos, tmp_path / "stopped", *HALF))[0] == 130
    assert command("--resume", tmp_path / "stopped")[0] == 0
    assert_same_run(tmp_path / "stopped", run)


def test_what_cannot_begin_at_half_its_size_says_why(command, photos, tmp_path):
    for flags, parts in (
        (("--half-size", "0.4"), ("positions of the kind 1d", "sincos")),
        ((*HALF, "--model", "nano/8"), ("8 x 8 pixels", "multiples of 16")),
    ):
        assert_one_line(command(*tiny(photos, tmp_path / "run", *flags)), *parts)
    assert not (tmp_path / "run").exists()
    with pytest.raises(UserError, match="multiples of 8 pixels"):
        half_size(preset("nano/4", (32, 36), 10, position="none"))


def test_patches_are_dropped_until_the_last_quarter(command, photos, tmp_path, monkeypatch):
    """In training alone; 4 epochs on images of 4 patches."""
    seen, forward = [], vit.stem

    def noted(config, params, images, noise=None, *more, **named):
        tokens, cache = forward(config, params, images, noise, *more, **named)
        seen.append((noise is not None, tokens.shape[1]))
        return tokens, cache

    monkeypatch.setattr(vit, "stem", noted)
    flags = (*HALF[:4], "--patch-dropout", "0.5", "--epochs", "4")
    assert command(*tiny(photos, tmp_path / "run", *flags))[0] == 0
    assert {tokens for trains, tokens in seen if not trains} == {4}
    trained = [tokens for trains, tokens in seen if trains]
    assert trained == [2] * (3 * len(trained) // 4) + [4] * (len(trained) // 4)


def test_each_image_keeps_other_patches_and_the_class_token():
    config = preset("nano/4", 32, 10, patch_dropout=0.75)
    params = initialise(config, seed=1)
    params["position"] = np.arange(65)[:, None] * np.ones((1, 64))
    images = np.zeros((20, 32, 32, 3), dtype="float32")
    tokens = stem(config, params, images, Noise(0, 1))[0][..., 0]
    assert tokens.shape == (20, 17) and (tokens[:, 0] == 0).all()
    assert all(len(set(row)) == 17 for row in tokens.tolist())
    assert len({tuple(sorted(row)) for row in tokens.tolist()}) == 20
    part = stem(config, params, images[:5], Noise(0, 1, first=7))[0][..., 0]
    np.testing.assert_array_equal(part, tokens[7:12])  # whatever micro-batch an image is in
    assert stem(config, params, images)[0].shape[1] == 65


def test_models_whose_blocks_know_places_cannot_drop_patches(command, photos, tmp_path):
    flags = ("--position", "relative", "--patch-dropout", "0.5")
    assert_one_line(command(*tiny(photos, tmp_path / "run", *flags)), "patch_dropout", "where its tokens lie")


def test_steps_cost_what_their_patches_do():
    """A quarter of the patches takes less than a quarter of the time; 8 epochs of 10 steps."""
    config = preset("nano/4", 32, 10, pool="mean", position="sincos")
    settings = Settings("shapes", "nano/4", epochs=8, half_size=0.25, patch_dropout=0.5)
    course = Course(stages_of(settings, config), 10)
    assert [course.number(epoch) for epoch in range(9)] == [0, 0, 1, 1, 1, 1, 2, 2, 2]
    small, some, whole = (course.cost(step) for step in (20, 21, 61))
    assert 0.2 < small < 0.25 and 0.4 < some < 0.5 and whole == 1
    assert course.cost_left(0, 80) == pytest.approx(20 * small + 40 * some + 20)
    assert course.cost_left(35, 80) == pytest.approx(25 * some + 20)
    assert course.cost_left(0, 15) == pytest.approx(15 * small)
    assert course.cost_left(70, 80) == 10
    assert mean_cost(settings, config) == pytest.approx((2 * small + 4 * some + 2) / 8)
    plain = Settings("shapes", "nano/4", epochs=8)
    assert [stage.config for stage in stages_of(plain, config)] == [config]
