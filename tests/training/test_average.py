"""Runs with a running average of the weights, and with Muon: what is kept, resumed, and used afterwards."""

import json

import numpy as np
import pytest

from tests.tiny_runs import (
    arrays,
    assert_one_line,
    assert_same_bits,
    assert_same_run,
    interrupted_after,
    metrics,
    tiny,
)
from tests.training.test_fit import CONFIG, colours
from tinyvit import ViTClassifier, evaluate, finetune, load, pretrain
from tinyvit.data import plan_batch
from tinyvit.engine import ReferenceEngine, Training
from tinyvit.engine.cuda.engine import CudaEngine
from tinyvit.model import Params, initialise
from tinyvit.optim import Average, make_optimizer
from tinyvit.support.errors import UserError
from tinyvit.training.fit import fit
from tinyvit.weights.checkpoint import load_checkpoint

EMA, MUON = ("--ema", "0.6"), ("--optimizer", "muon")


@pytest.fixture
def run(command, photos, tmp_path):
    """A run of 3 epochs with Muon and an average."""
    assert command(*tiny(photos, tmp_path / "run", *EMA, *MUON))[0] == 0
    return tmp_path / "run"


def averages(path, decay=0.6):
    """The average after each update, by hand; path has the weights at first and after each."""
    found = [path[0].astype("float64")]
    for t, weights in enumerate(path[1:], start=1):
        d = min(decay, (1 + t) / (10 + t))
        found.append(d * found[-1] + (1 - d) * weights)
    return found


@pytest.fixture
def path(monkeypatch):
    """The weights before the first step and after each, of whatever is trained."""
    seen, take_step = [], ReferenceEngine.step

    def watched(self, plan, lr):
        if not seen:
            seen.append(self.params.flat.copy())
        result = take_step(self, plan, lr)
        seen.append(self.params.flat.copy())
        return result

    monkeypatch.setattr(ReferenceEngine, "step", watched)
    return seen


def test_the_average_is_judged_and_kept_and_training_goes_on_with_the_weights(path, go, run):
    expected = averages(path)
    last, best = load_checkpoint(run / "last.npz"), load_checkpoint(run / "best.npz")
    np.testing.assert_allclose(last.params.flat, expected[12], rtol=1e-5, atol=1e-6)
    assert last.weights.tobytes() == path[12].tobytes()
    assert not np.allclose(last.params.flat, path[12], rtol=1e-5, atol=1e-6)
    epoch = last.progress["best_epoch"]
    np.testing.assert_allclose(best.params.flat, expected[4 * epoch], rtol=1e-5, atol=1e-6)
    assert best.weights is None and not best.optimizer
    _, out, _ = go(evaluate, run, "--checkpoint", "last", "--json", "--threads", "1")
    assert json.loads(out)["loss"] == pytest.approx(metrics(run)[-1]["test_loss"], rel=1e-6)
    assert load(run).params.flat.tobytes() == best.params.flat.tobytes()


def test_an_average_does_not_change_what_it_follows(command, photos, tmp_path, run):
    assert command(*tiny(photos, tmp_path / "plain", *MUON))[0] == 0
    plain = load_checkpoint(tmp_path / "plain" / "last.npz")
    assert load_checkpoint(run / "last.npz").weights.tobytes() == plain.params.flat.tobytes()
    assert "training/weights" not in arrays(tmp_path / "plain" / "last.npz")


@pytest.mark.parametrize("step", [1, 4, 7])
def test_a_run_that_was_stopped_ends_with_the_same_bits(command, photos, tmp_path, run, monkeypatch, step):
    with interrupted_after(monkeypatch, step):
        assert command(*tiny(photos, tmp_path / "cut", *EMA, *MUON))[0] == 130
    assert command("--resume", tmp_path / "cut")[0] == 0
    assert_same_run(tmp_path / "cut", run)
    assert "training/weights" in arrays(tmp_path / "cut" / "last.npz")


def test_a_repeated_run_has_the_same_average_and_a_resumed_one_no_other(command, tmp_path, run):
    assert command("--config", run / "config.json", "--out", tmp_path / "again")[0] == 0
    assert_same_bits(tmp_path / "again" / "last.npz", run / "last.npz")
    for flags, complaint in (
        (("--ema", "0"), "was started with ema 0.6: the rate of an average may change, but none can"),
        (("--optimizer", "adamw"), "was started with optimizer muon, not adamw"),
    ):
        assert_one_line(command("--resume", run, *flags), complaint)
    assert_one_line(command("--out", tmp_path / "new", "--ema", "1"), "--ema", "below 1")


def test_a_checkpoint_without_the_weights_is_not_resumed(command, run):
    kept = arrays(run / "last.npz")
    del kept["training/weights"]
    np.savez(run / "last.npz", **kept)
    assert_one_line(command("--resume", run, "--epochs", "4"), "does not match this run's model, optimiser")


def test_fine_tuning_and_learning_without_labels_have_both(go, photos, tmp_path, run):
    more = ("--epochs", "1", *EMA, *MUON)
    data = ("--dataset", "folder", "--data-dir", photos, "--batch-size", "8", "--threads", "1")
    assert go(pretrain, *tiny(photos, tmp_path / "patches", *more))[0] == 0
    assert go(finetune, tmp_path / "patches", *data, "--out", tmp_path / "tuned", *more)[0] == 0
    for name in ("patches", "tuned"):
        kept = arrays(tmp_path / name / "last.npz")
        assert {"training/weights", "optimizer/1.muon.m"} <= kept.keys()


def test_fit_ends_with_the_average(path):
    params = initialise(CONFIG, 1)
    fit(CONFIG, params, colours(), epochs=2, batch_size=8, ema=0.6, optimizer="muon")
    np.testing.assert_allclose(params.flat, averages(path)[-1], rtol=1e-5, atol=1e-6)
    with pytest.raises(UserError, match="ema is 1, expected a number from 0 to below 1"):
        fit(CONFIG, params, colours(), ema=1)


def test_the_classifier_passes_them_on(monkeypatch):
    given = {}
    monkeypatch.setattr("tinyvit.training.fit.fit", lambda *args, **settings: given.update(settings))
    data = colours()
    ViTClassifier(optimizer="muon", ema=0.6, threads=1).fit(data.images, data.labels)
    assert (given["optimizer"], given["ema"]) == ("muon", 0.6)


def test_the_cuda_engine_keeps_the_average_too(any_cuda):
    xp, config = any_cuda.xp, CONFIG
    params, data = initialise(config, 1).to(xp), colours()
    average = Average(params, 0.6)
    images, labels = xp.asarray(data.images), xp.asarray(data.labels)
    training = Training(images, labels, make_optimizer("adamw", params), 1.0, average=average)
    engine, path = CudaEngine(config, params, training=training), [params.to(np).flat]
    for step in range(1, 5):  # a graph from the second on
        engine.step(plan_batch(0, step, np.arange(8)), 0.01)
        path.append(params.to(np).flat)
    found = Params(average.flat, params.rows).to(np).flat
    np.testing.assert_allclose(found, averages(path)[-1], rtol=1e-5, atol=1e-6)
