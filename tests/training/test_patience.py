"""--patience: a run ends early once its evaluations have stopped getting better."""

import json
from types import SimpleNamespace

import pytest

from tests.tiny_runs import arrays, assert_one_line, assert_same_run, interrupted_after, metrics, tiny
from tinyvit import pretrain
from tinyvit.training import evaluation
from tinyvit.training.run_trainer import RunTrainer
from tinyvit.training.state import State


@pytest.fixture
def scripted(monkeypatch):
    """scripted(accuracies ...) has the evaluations of the next runs give these, epoch after epoch."""

    def script(*accuracies, per_epoch=4):
        def evaluate(trainer, images):
            return SimpleNamespace(accuracy=accuracies[trainer.state.step // per_epoch - 1], loss=1.0)

        monkeypatch.setattr(RunTrainer, "_evaluate", evaluate)

    return script


def test_a_run_ends_when_nothing_better_has_come_for_that_long(command, photos, tmp_path, scripted):
    scripted(0.5, 0.6, 0.6, 0.4, 0.9, 0.9)
    flags = ("--epochs", "6", "--patience", "2")
    status, out, _ = command(*tiny(photos, tmp_path / "run", *flags))
    assert status == 0
    assert [record["test_accuracy"] for record in metrics(tmp_path / "run")] == [0.5, 0.6, 0.6, 0.4]
    starred = [line.endswith("*") or " * " in line for line in out.splitlines() if line.startswith("epoch")]
    assert starred == [True, True, False, False]  # the third is as good, but best.npz is the second
    assert "it ended early, after epoch 4 of 6, since 2 evaluations in a row were not better than" in out
    assert (
        ": best.npz, of epoch 2, has the best test accuracy, 60.0%; after the last epoch it was 40.0%" in out
    )
    assert json.loads(str(arrays(tmp_path / "run/best.npz")["progress"]))["best_epoch"] == 2
    rates = [record["lr"] for record in metrics(tmp_path / "run")]
    assert command(*tiny(photos, tmp_path / "whole", "--epochs", "6"))[0] == 0
    assert (
        rates == [record["lr"] for record in metrics(tmp_path / "whole")][:4]
    )  # the schedule is that of all 6


@pytest.mark.parametrize("step", [2, 7, 12])
def test_stopped_anywhere_it_ends_at_the_same_epoch_with_the_same_bits(
    command, photos, tmp_path, scripted, monkeypatch, step
):
    flags = ("--epochs", "6", "--patience", "2", "--validation", "8")
    scripted(0.5, 0.6, 0.6, 0.4, 0.9, 0.9, per_epoch=3)
    assert command(*tiny(photos, tmp_path / "alone", *flags))[0] == 0
    assert [record["test_accuracy"] for record in metrics(tmp_path / "alone")] == [None, None, None, 0.4]
    with interrupted_after(monkeypatch, step):
        assert command(*tiny(photos, tmp_path / "run", *flags))[0] == 130
    assert command("--resume", tmp_path / "run")[0] == 0
    assert_same_run(tmp_path / "run", tmp_path / "alone")


def test_a_run_that_has_ended_early_is_finished_and_says_why(command, photos, tmp_path, scripted):
    run = tmp_path / "run"
    scripted(0.5, 0.4, 0.6)
    assert command(*tiny(photos, run, "--patience", "1"))[0] == 0
    before = (run / "last.npz").read_bytes()
    _, out, _ = command("--resume", run)
    assert (
        f"{run} is finished: it ended early, after epoch 2 of 3, since 1 evaluation in a row was not" in out
    )
    assert out.endswith(f"--resume {run} --patience N\n")
    assert (run / "last.npz").read_bytes() == before


def test_epochs_without_an_evaluation_do_not_count():
    looked = [None, 0.9, None, 1.0, None, 1.1]  # every second one; the second was the best
    records = [{"epoch": i, "step": i, "test_loss": loss} for i, loss in enumerate(looked, 1)]
    state = State(records=records, best_epoch=2)
    assert state.has_stalled(2) and not state.has_stalled(3) and not state.has_stalled(None)
    held_out = [record | {"val_loss": 1.0, "test_loss": None} for record in records]
    assert State(records=held_out, best_epoch=2).has_stalled(4)


def test_a_run_without_labels_ends_early_by_its_loss(go, photos, tmp_path, monkeypatch):
    losses = iter([3.0, 2.0, 2.5])
    monkeypatch.setattr(
        evaluation, "evaluate_patches", lambda *args, **more: SimpleNamespace(accuracy=0.5, loss=next(losses))
    )
    monkeypatch.setattr("tinyvit.training.wording._after_pretraining", lambda trainer: [])
    _, out, _ = go(pretrain, *tiny(photos, tmp_path / "run", "--epochs", "9", "--patience", "1"))
    assert "after epoch 3 of 9, since 1 evaluation in a row was not better than that of epoch 2" in out


def test_a_patience_is_one_evaluation_or_more(command, photos, tmp_path):
    assert_one_line(command(*tiny(photos, tmp_path / "run", "--patience", "0")), "--patience", "1 or more")
