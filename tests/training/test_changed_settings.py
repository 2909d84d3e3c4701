"""A run that is resumed with other settings has them from there on, with the same bits whatever happens."""

import json
import os
import shutil
from types import SimpleNamespace

import pytest

from tests.tiny_runs import (
    arrays,
    assert_one_line,
    assert_same_run,
    interrupted_after,
    metrics,
    numbers,
    tiny,
)
from tinyvit import pretrain
from tinyvit.support.files import atomic as files
from tinyvit.training import run_trainer
from tinyvit.training.run_folder import RunFolder

MORE = ("--lr", "0.0003", "--weight-decay", "0.2", "--decay", "constant", "--mixup", "0.5", "--no-flip")
MORE += ("--smoothing", "0.1", "--erase", "0.5", "--clip", "0.1", "--ema", "0.8")


@pytest.fixture
def stopped(run_once, tmp_path):
    """A run of 3 epochs of 4 steps that was stopped after step 5."""
    return shutil.copytree(run_once("--ema", "0.9", step=5), tmp_path / "stopped")


def test_a_longer_run_and_other_threads_are_recorded_and_config_says_that_it_repeats_neither(
    command, photos, tmp_path
):
    run, again = tmp_path / "run", tmp_path / "again"
    assert command(*tiny(photos, run, "--epochs", "1"))[0] == 0
    _, out, _ = command("--resume", run, "--epochs", "3", "--threads", "2")
    assert "the schedule of the longer run, which raises it from 0.00025 to 0.00083\n" in out
    assert "changed from step 5 on: threads 1 -> 2\n" in out
    said = {"step": 5, "epoch": 2, "epochs": [1, 3], "threads": [1, 2]}
    assert RunFolder(run).changed() == [said]
    assert command("--resume", run, "--epochs", "4")[0] == 0
    back = {"step": 13, "epoch": 4, "epochs": [3, 4], "threads": [2, 1]}  # theirs were for that time only
    assert RunFolder(run).changed() == [said, back]
    _, out, _ = command("--config", run / "config.json", "--out", again)
    first = "epochs 1 -> 3, threads 1 -> 2 from step 5 on; epochs 3 -> 4, threads 2 -> 1 from step 13 on"
    assert f"{run / 'config.json'} does not repeat its run, which was resumed with other settings" in out
    assert f"({first}): the new run has the last of them from its start\n" in out
    assert (RunFolder(again).settings().epochs, RunFolder(again).changed()) == (4, [])
    for source, *flags in ((run, "--epochs", "2", "--threads", "1"), (again,)):
        out = tmp_path / source.name / "repeated"
        assert "does not repeat" not in command("--config", source / "config.json", "--out", out, *flags)[1]


def test_it_goes_on_from_the_checkpoint_with_the_new_settings(command, stopped, tmp_path):
    kept, old = shutil.copytree(stopped, tmp_path / "kept"), RunFolder(stopped).settings()
    status, out, _ = command("--resume", stopped, "--lr", "0.0003", "--decay", "constant")
    assert status == 0
    assert "changed from step 6 on: decay cosine -> constant, lr 0.001 -> 0.0003\n" in out
    assert [record["lr"] for record in metrics(stopped)] == [metrics(kept)[0]["lr"], 0.0003, 0.0003]
    settings = RunFolder(stopped).settings()
    assert (settings.lr, settings.decay, settings.ema) == (0.0003, "constant", old.ema)
    said = {"step": 6, "epoch": 2, "decay": ["cosine", "constant"], "lr": [0.001, 0.0003]}
    assert RunFolder(stopped).changed() == [said]
    assert command("--resume", kept)[0] == 0
    same = numbers(kept / "last.npz"), numbers(stopped / "last.npz")
    assert any((same[0][name] != same[1][name]).any() for name in same[0])


def test_every_setting_that_may_change_takes_effect(command, stopped, tmp_path):
    assert command("--resume", shutil.copytree(stopped, tmp_path / "plain"))[0] == 0
    plain = arrays(tmp_path / "plain/last.npz")["training/weights"].tobytes()
    for flags in (*zip(MORE[:8:2], MORE[1:8:2], strict=True), ("--no-flip",), ("--augment", "autoaugment")):
        there = shutil.copytree(stopped, tmp_path / flags[0])
        assert command("--resume", there, *flags)[0] == 0
        assert arrays(there / "last.npz")["training/weights"].tobytes() != plain, flags


def test_stopped_again_and_again_it_ends_with_the_same_bits(command, stopped, tmp_path, monkeypatch):
    alone = shutil.copytree(stopped, tmp_path / "alone")
    assert command("--resume", alone, *MORE)[0] == 0
    with interrupted_after(monkeypatch, 6):
        assert command("--resume", stopped, *MORE)[0] == 130
    with interrupted_after(monkeypatch, 10):
        assert command("--resume", stopped)[0] == 130
    assert command("--resume", stopped, *MORE)[0] == 0  # they are its settings now
    assert_same_run(stopped, alone)
    assert RunFolder(stopped).changed() == RunFolder(alone).changed()
    assert len(RunFolder(alone).changed()) == 1


def test_a_power_cut_around_any_write_of_the_change_changes_nothing(command, stopped, tmp_path, monkeypatch):
    alone, left, move = shutil.copytree(stopped, tmp_path / "alone"), [], os.replace
    assert command("--resume", alone, *MORE)[0] == 0

    def photographed(source, target):
        left.append(shutil.copytree(stopped, tmp_path / f"left{len(left)}"))
        move(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(run_trainer, "SAVE_SECONDS", -1)
        patch.setattr(files.os, "replace", photographed)
        assert command("--resume", stopped, *MORE)[0] == 0
    assert len(left) > 2 * 7
    for i, there in enumerate((*left, stopped)):
        begun = json.loads(str(arrays(there / "last.npz")["progress"]))["changed"] if i else []
        assert command("--resume", there, *(() if begun else MORE))[0] == 0
        assert metrics(there) == metrics(alone)
        assert_same_run(there, alone)
        assert RunFolder(there).changed() == RunFolder(alone).changed()
        assert RunFolder(there).settings() == RunFolder(alone).settings()


def test_a_run_that_ended_early_goes_on_with_more_patience(command, photos, tmp_path, monkeypatch):
    flags, run = ("--epochs", "4"), tmp_path / "run"
    monkeypatch.setattr(
        run_trainer.RunTrainer, "_evaluate", lambda *args: SimpleNamespace(accuracy=0.5, loss=1.0)
    )
    assert command(*tiny(photos, run, *flags, "--patience", "1"))[0] == 0
    assert len(metrics(run)) == 2
    assert command("--resume", run, "--patience", "9")[0] == 0
    assert command(*tiny(photos, tmp_path / "alone", *flags))[0] == 0
    assert_same_run(run, tmp_path / "alone")
    assert RunFolder(run).changed()[0] == {"step": 9, "epoch": 3, "patience": [1, 9]}


def test_the_checkpoint_before_the_change_is_resumed_with_the_change(command, stopped, tmp_path, monkeypatch):
    """As when the last one is damaged just then."""
    before = (stopped / "last.npz").read_bytes()
    with interrupted_after(monkeypatch, 6):
        assert command("--resume", stopped, "--lr", "0.0003")[0] == 130
    (stopped / "last.npz").write_bytes(before)
    assert command("--resume", stopped)[0] == 0
    assert [record["lr"] < 0.0004 for record in metrics(stopped)] == [False, True, True]


def test_a_run_without_labels_mixes_none(go, photos, tmp_path, monkeypatch):
    run = tmp_path / "run"
    with interrupted_after(monkeypatch, 2):
        assert go(pretrain, *tiny(photos, run))[0] == 130
    assert_one_line(go(pretrain, "--resume", run, "--mixup", "0.5"), "mixing images mixes their labels")
    assert_one_line(go(pretrain, "--resume", run, "--optimizer", "sgd"), "optimizer adamw, not sgd")
