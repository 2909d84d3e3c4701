"""A run on a part of the data, with a model of another shape, looked at only now and then."""

import json
import shutil

import pytest

from tests.tiny_runs import assert_one_line, assert_same_run, interrupted_after, metrics, tiny
from tinyvit import evaluate
from tinyvit.engine import ReferenceEngine
from tinyvit.training import evaluation
from tinyvit.training.run_folder import RunFolder


def test_a_run_on_a_fraction_of_the_images(go, command, photos, tmp_path):
    run = tmp_path / "run"
    assert command(*tiny(photos, run, "--fraction", "0.5", "--epochs", "1"))[0] == 0
    assert metrics(run)[-1]["step"] == 2  # 8 of 16 images of each class, batches of 8
    assert json.loads((run / "config.json").read_text())["settings"]["fraction"] == 0.5
    assert go(evaluate, run)[0] == 0
    assert_one_line(command("--resume", run, "--fraction", "0.25"), "started with fraction 0.5, not 0.25")


def test_a_fraction_that_is_too_small_or_none_is_one_line(command, photos, tmp_path):
    short = tiny(photos, tmp_path / "run")
    assert_one_line(
        command(*short, "--fraction", "0.01"), "of the 16 training images of blue", "--fraction 0.062"
    )
    assert_one_line(command(*short, "--fraction", "0.1"), "batch of 8", "from 4", "or a larger --fraction")
    for wrong in ("0", "1.5", "half"):
        assert_one_line(command(*short, "--fraction", wrong), "above 0 and at most 1")
    assert_one_line(command(*short, "--only", "red"), "two different classes")
    assert_one_line(command(*short, "--only", "red,green"), "no class 'green'", "'blue', 'red'")


def test_a_model_of_another_shape_is_trained_and_resumed(command, photos, tmp_path, monkeypatch):
    flags = ("--layers", "1", "--width", "24", "--mlp-width", "20", "--heads", "3", "--only", "red, blue")
    status, out, _ = command(*tiny(photos, tmp_path / "alone", *flags))
    assert status == 0
    assert "vit-nano/4 (layers 1, width 24, mlp width 20, heads 3)" in out
    model = RunFolder.open(tmp_path / "alone").model()
    assert (model.layers, model.width, model.mlp_width, model.heads) == (1, 24, 20, 3)
    assert RunFolder.open(tmp_path / "alone").classes() == ("red", "blue")
    with interrupted_after(monkeypatch, 5):
        command(*tiny(photos, tmp_path / "run", *flags))
    assert command("--resume", tmp_path / "run")[0] == 0
    assert_same_run(tmp_path / "run", tmp_path / "alone")
    assert_one_line(command(*tiny(photos, tmp_path / "x", "--width", "50")), "not divisible by 4 heads")


@pytest.mark.parametrize("step", [3, 6])
def test_a_run_that_is_evaluated_now_and_then(command, photos, tmp_path, monkeypatch, step):
    """Every second epoch and the last are looked at; stopped before or after, it ends the same."""
    looked, real = [], evaluation.evaluate
    monkeypatch.setattr(evaluation, "evaluate", lambda *args: looked.append(1) or real(*args))
    flags = ("--epochs", "5", "--evaluate-every", "2", "--warmup-steps", "3")
    status, out, _ = command(*tiny(photos, tmp_path / "alone", *flags))
    epochs = [line for line in out.splitlines() if line.startswith("epoch ")]
    assert (status, len(looked), len(epochs)) == (0, 3, 5)
    assert [" test     -   best     -  " in line for line in epochs] == [True, False, False, False, False]
    assert [" test     - " in line for line in epochs] == [True, False, True, False, False]
    records = metrics(tmp_path / "alone")
    assert [record["test_accuracy"] is not None for record in records] == [False, True, False, True, True]
    with interrupted_after(monkeypatch, step):
        assert command(*tiny(photos, tmp_path / "run", *flags))[0] == 130
    if step > records[0]["step"]:  # an epoch was finished, though it was not evaluated
        assert [record["epoch"] for record in metrics(tmp_path / "run")] == [1]
    assert command("--resume", tmp_path / "run")[0] == 0
    assert_same_run(tmp_path / "run", tmp_path / "alone")


def test_warm_up_takes_as_many_steps_as_it_is_given(command, photos, tmp_path):
    assert command(*tiny(photos, tmp_path / "run", "--warmup-steps", "8", "--lr", "0.001"))[0] == 0
    assert [record["lr"] for record in metrics(tmp_path / "run")][:2] == [0.0005, 0.001]
    both = tiny(photos, tmp_path / "x", "--warmup-steps", "8", "--warmup-epochs", "1")
    assert_one_line(command(*both), "not allowed with")


def test_a_balanced_run_shows_each_class_as_often_as_the_other(command, photos, tmp_path, monkeypatch):
    """Of 16 images of one class and 4 of another, half and half; resumed, with the same bits."""
    few = tmp_path / "few"
    shutil.copytree(photos, few)
    for i in range(15):
        (few / "red" / f"{i}.png").unlink()
    seen, take_step = [], ReferenceEngine.step

    def watched(self, plan, lr):
        seen.extend(self.training.labels[plan.indices].tolist())
        return take_step(self, plan, lr)

    with monkeypatch.context() as patch:
        patch.setattr(ReferenceEngine, "step", watched)
        assert command(*tiny(few, tmp_path / "alone", "--balanced"))[0] == 0
    assert len(seen) == 3 * 16 and 18 <= sum(seen) <= 30
    with interrupted_after(monkeypatch, 3):
        command(*tiny(few, tmp_path / "run", "--balanced"))
    assert command("--resume", tmp_path / "run")[0] == 0
    assert_same_run(tmp_path / "run", tmp_path / "alone")
    assert_one_line(command("--resume", tmp_path / "run", "--no-balanced"), "balanced True, not False")
