"""Patch dropout: one model, whose steps see some patches of each image at first, and all of them at last."""

import numpy as np
import pytest

from tests.tiny_runs import assert_one_line, assert_same_run, interrupted_after, tiny
from tinyvit.engine import ReferenceEngine
from tinyvit.model import initialise, preset, vit
from tinyvit.model.stem import stem
from tinyvit.ops import Noise
from tinyvit.runs.checkpoint import load_checkpoint
from tinyvit.runs.settings import Settings
from tinyvit.training.stages import Stages

SOME = ("--patch-dropout", "0.5", "--epochs", "5")  # of 4 patches; the last epoch sees all


def test_patches_are_dropped_in_all_epochs_but_the_last_fifth(command, photos, tmp_path, monkeypatch):
    """In training alone; all epochs train one set of weights, and the model that is kept drops none."""
    seen, weights, forward, take_step = [], set(), vit.stem, ReferenceEngine.step

    def noted(config, params, images, noise=None, *more, **named):
        tokens, cache = forward(config, params, images, noise, *more, **named)
        seen.append((noise is not None, tokens.shape[1] - 1))  # there is a class token
        return tokens, cache

    def step(self, plan, lr):
        weights.add(self.params.flat.ctypes.data)
        return take_step(self, plan, lr)

    monkeypatch.setattr(vit, "stem", noted)
    monkeypatch.setattr(ReferenceEngine, "step", step)
    assert command(*tiny(photos, tmp_path / "run", *SOME))[0] == 0
    assert {patches for trains, patches in seen if not trains} == {4}
    trained = [patches for trains, patches in seen if trains]
    assert trained == [2] * (4 * len(trained) // 5) + [4] * (len(trained) // 5)
    assert len(weights) == 1
    assert load_checkpoint(tmp_path / "run" / "last.npz").config.patch_dropout == 0


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


def test_an_epoch_costs_what_its_patches_do():
    """Half of the patches take a little more than half of the time."""
    config = preset("nano/4", 32, 10, pool="mean")
    stages = Stages(Settings("shapes", "nano/4", epochs=10, patch_dropout=0.5), config)
    assert [stages.configs[stages.number(epoch)].patch_dropout for epoch in range(10)] == [0.5] * 8 + [0] * 2
    some = stages.cost(7)
    assert 0.5 < some < 0.6 and stages.cost(8) == 1
    assert stages.cost_left(0, 10) == pytest.approx(8 * some + 2)
    assert stages.cost_left(5.5, 10) == pytest.approx(2.5 * some + 2)
    assert stages.cost_left(9.5, 10) == 0.5
    assert stages.cost_left(0, 0.5) == pytest.approx(0.5 * some)  # steps that end within an epoch
    short = Stages(Settings("shapes", "nano/4", epochs=2, patch_dropout=0.5), config)
    assert [short.cost(epoch) for epoch in range(2)] == [some, 1]
    plain = Stages(Settings("shapes", "nano/4", epochs=10), config)
    assert (plain.configs, plain.number(0), plain.cost(0), plain.cost_left(3, 10)) == ([config], 0, 1, 7)
