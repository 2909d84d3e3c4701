"""The first epochs of a run on images of half the size: one model, whose steps see fewer patches."""

import numpy as np
import pytest

from tests.tiny_runs import assert_one_line, assert_same_run, interrupted_after, tiny
from tinyvit.engine import ReferenceEngine
from tinyvit.errors import UserError
from tinyvit.model import preset
from tinyvit.runs.settings import Settings
from tinyvit.training import evaluation
from tinyvit.training.half_size import Stages, half_size

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


def test_steps_cost_what_their_patches_do():
    """A quarter of the patches, and a little less than a quarter of the time; 2 of 5 epochs of 10 steps."""
    settings = Settings("shapes", "nano/4", epochs=5, half_size=0.4)
    config = preset("nano/4", 32, 10, pool="mean", position="sincos")
    params = np.zeros(1)
    full, half = (ReferenceEngine(each, params) for each in (config, half_size(config)))
    stages = Stages(settings, 10, full, half)
    assert [stages.engine(epoch) for epoch in range(5)] == [half, half, full, full, full]
    cost = stages.cost(20)
    assert 0.2 < cost < 0.25 and stages.cost(21) == 1
    assert stages.cost_left(0, 50) == pytest.approx(20 * cost + 30)
    assert stages.cost_left(15, 50) == pytest.approx(5 * cost + 30)
    assert stages.cost_left(40, 50) == 10
    plain = Stages(settings, 10, full, None)
    assert (plain.engine(0), plain.cost(1), plain.cost_left(1, 50)) == (full, 1, 49)
