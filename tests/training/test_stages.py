"""Patch dropout: one model, whose steps see some patches of each image at first, and all of them at last."""

import numpy as np
import pytest

from tests.tiny_runs import assert_one_line, assert_same_run, interrupted_after, tiny
from tinyvit import model
from tinyvit.engine import ReferenceEngine
from tinyvit.model import initialise, preset, stages
from tinyvit.model.stage import Stage, infer_through, split_at_blocks
from tinyvit.ops import Noise
from tinyvit.training.learning import Stages
from tinyvit.training.settings import Settings
from tinyvit.weights.checkpoint import load_checkpoint

HALF = ("--patch-dropout", "0.5")  # of 4 patches
SOME = (*HALF, "--epochs", "5")  # the last epoch sees all


@pytest.mark.parametrize(("length", "some"), [(("--epochs", "5"), 16), (("--steps", "17"), 14)])
def test_patches_are_dropped_in_all_steps_but_the_last_fifth(
    command, photos, tmp_path, monkeypatch, length, some
):
    """In training alone; all steps train one set of weights, and the model that is kept drops none."""
    seen, weights, take_step = [], set(), ReferenceEngine.step

    def noted(config, noise=None, *more, **named):
        stem, blocks, readout = split_at_blocks(stages(config, noise, *more, **named))

        def forward(params, x):
            seen.append((noise is not None, x.shape[1] - 1))  # there is a class token
            return x, None

        return [*stem, Stage("noted", forward, lambda dy, cache, grads: dy), *blocks, *readout]

    def step(self, plan, lr):
        weights.add(self.params.flat.ctypes.data)
        return take_step(self, plan, lr)

    monkeypatch.setattr(model, "stages", noted)
    monkeypatch.setattr(ReferenceEngine, "step", step)
    assert command(*tiny(photos, tmp_path / "run", *HALF, *length))[0] == 0
    assert {patches for trains, patches in seen if not trains} == {4}
    trained = [patches for trains, patches in seen if trains]
    assert trained == [2] * some + [4] * (len(trained) - some)
    assert len(weights) == 1
    assert load_checkpoint(tmp_path / "run" / "last.npz").config.patch_dropout == 0


def test_each_image_keeps_other_patches_and_the_class_token():
    config = preset("nano/4", 32, 10, patch_dropout=0.75)
    params = initialise(config, seed=1)
    params["position"] = np.arange(65)[:, None] * np.ones((1, 64))
    images = np.zeros((20, 32, 32, 3), dtype="float32")

    def stem(noise, images):
        return infer_through(split_at_blocks(stages(config, noise))[0], params, images)[..., 0]

    tokens = stem(Noise(0, 1), images)
    assert tokens.shape == (20, 17) and (tokens[:, 0] == 0).all()
    assert all(len(set(row)) == 17 for row in tokens.tolist())
    assert len({tuple(sorted(row)) for row in tokens.tolist()}) == 20
    part = stem(Noise(0, 1, first=7), images[:5])
    np.testing.assert_array_equal(part, tokens[7:12])  # whatever micro-batch an image is in
    assert stem(None, images).shape[1] == 65


@pytest.mark.parametrize("step", [6, 16, 18])
def test_a_run_that_is_stopped_before_or_after_the_change_ends_the_same(
    command, photos, tmp_path, monkeypatch, step
):
    assert command(*tiny(photos, tmp_path / "alone", *SOME))[0] == 0
    with interrupted_after(monkeypatch, step):
        assert command(*tiny(photos, tmp_path / "stopped", *SOME))[0] == 130
    assert command("--resume", tmp_path / "stopped")[0] == 0
    assert_same_run(tmp_path / "stopped", tmp_path / "alone")


def test_models_whose_blocks_know_places_cannot_drop_patches(command, photos, tmp_path):
    flags = (*SOME, "--position", "relative")
    assert_one_line(
        command(*tiny(photos, tmp_path / "run", *flags)),
        "has positions in its blocks cannot drop patches",
        "patch_dropout is 0.5, expected 0",
    )
    assert not (tmp_path / "run").exists()


def test_a_patch_must_be_left(command, photos, tmp_path):
    flags = ("--patch-dropout", "0.9", "--epochs", "5")
    assert_one_line(
        command(*tiny(photos, tmp_path / "run", *flags)), "0.9 drops all 4 patches: expected at most 0.75"
    )
    assert not (tmp_path / "run").exists()


def test_a_step_costs_what_its_patches_do():
    """Half of the patches take a little more than half of the time."""
    config = preset("nano/4", 32, 10, pool="mean")
    stages = Stages(Settings(dataset="shapes", model="nano/4", epochs=10, patch_dropout=0.5), config)
    rates = [stages.configs[stages.number(step / 15)].patch_dropout for step in range(15)]
    assert rates == [0.5] * 12 + [0] * 3
    some = stages.cost(11 / 15)
    assert 0.5 < some < 0.6 and stages.cost(0.8) == 1
    assert stages.cost_left(0) == pytest.approx(0.8 * some + 0.2)
    assert stages.cost_left(0.55) == pytest.approx(0.25 * some + 0.2)
    assert stages.cost_left(0.95) == pytest.approx(0.05)
    plain = Stages(Settings(dataset="shapes", model="nano/4", epochs=10), config)
    assert (plain.configs, plain.number(0), plain.cost(0), plain.cost_left(0.3)) == ([config], 0, 1, 0.7)
