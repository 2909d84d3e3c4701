"""Stopped at any moment, in any way, a run that is resumed ends as if it had been left alone."""

import json
import os
import shutil
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from tests.tiny_runs import (
    STOPPING,
    arrays,
    assert_one_line,
    assert_same_run,
    interrupted_after,
    metrics,
    spawn,
    tiny,
)
from tinyvit import pretrain, train
from tinyvit.engine import ReferenceEngine
from tinyvit.support.files import atomic as files
from tinyvit.support.files.locks import Claim
from tinyvit.training import run_trainer, session, wording

STEPS = 12  # 3 epochs of 4
STOP_SIGNALS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


class PowerCut(BaseException):
    """Nobody expects it."""


@pytest.fixture
def alone(run_once, tmp_path):
    """A run that was left alone; with noise and augmentation, so that all that is random takes part."""
    return shutil.copytree(run_once(*NOISY), tmp_path / "alone")


NOISY = ("--layers", "2", "--dropout", "0.1", "--drop-path", "0.1", "--mixup", "0.8", "--cutmix", "1")
NOISY += ("--erase", "0.5", "--repeats", "2", "--augment", "randaugment", "--colour-jitter", "0.4")
NOISY += ("--crop-padding", "0", "--crop-scale", "0.4")


def noisy(photos, out):
    return tiny(photos, out, *NOISY)


@pytest.mark.parametrize(
    ("step", "number"),
    [*((step, signal.SIGINT) for step in (1, 3, 4, 5, 8, 11)), *((5, number) for number in STOP_SIGNALS)],
)
def test_a_signal_stops_after_the_step_and_nothing_is_lost(
    command, photos, alone, tmp_path, monkeypatch, step, number
):
    run = tmp_path / "run"
    with interrupted_after(monkeypatch, step, number):
        status, out, err = command(*noisy(photos, run))
    assert (status, err) == (128 + number, STOPPING)
    assert f"stopped after step {step}, which is saved" in out
    assert f"python -m tinyvit.train --resume {run}" in out
    status, out, _ = command("--resume", run)
    assert status == 0
    assert f"after step {step} of {STEPS}" in out
    assert_same_run(run, alone)


def test_a_run_survives_a_power_cut_around_any_write(command, photos, tmp_path, monkeypatch):
    """Every step is saved; what is on the disk before each move, and after the last, is a run to resume."""
    flags, left, replace = ("--epochs", "2"), [], os.replace
    run, alone = tmp_path / "run", tmp_path / "alone"

    def photographed(source, target):
        left.append(shutil.copytree(run, tmp_path / f"left{len(left)}"))
        replace(source, target)

    assert command(*noisy(photos, alone), *flags)[0] == 0
    with monkeypatch.context() as patch:
        patch.setattr(run_trainer, "SAVE_SECONDS", -1)
        patch.setattr(files.os, "replace", photographed)
        assert command(*noisy(photos, run), *flags)[0] == 0
    left.append(shutil.copytree(run, tmp_path / "left"))
    assert len(left) > 2 * 8
    for there in left:
        again = ("--resume", there) if (there / "config.json").exists() else (*noisy(photos, there), *flags)
        assert command(*again)[0] == 0
        assert_same_run(there, alone)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL, and its Ctrl-C goes to a whole console")
@pytest.mark.parametrize("number", [signal.SIGINT, getattr(signal, "SIGKILL", 9)])
def test_a_process_that_is_stopped_from_outside(command, photos, tmp_path, number):
    flags = ("--epochs", "8", "--optimizer", "muon", "--ema", "0.9")
    assert command(*noisy(photos, tmp_path / "alone"), *flags)[0] == 0
    run = tmp_path / "run"
    process = spawn("train", *noisy(photos, run), *flags)
    deadline = time.monotonic() + 60
    while not (run / "metrics.jsonl").exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.005)
    time.sleep(0.15)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    if process.returncode != 0:  # a very fast machine may have been through
        assert process.returncode == (130 if number == signal.SIGINT else -number)
        assert err == (STOPPING if number == signal.SIGINT else "")
    assert command("--resume", run)[0] == 0
    assert_same_run(run, tmp_path / "alone")


def test_a_second_ctrl_c_ends_at_once(command, photos, tmp_path, monkeypatch):
    def interrupted(self, plan, lr):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(ReferenceEngine, "step", interrupted)
    status, _, err = command(*noisy(photos, tmp_path / "run"))
    assert status == 130
    assert "interrupted" in err
    assert "Traceback" not in err


def test_the_handlers_are_put_back(command, photos, tmp_path):
    numbers = (signal.SIGINT, *STOP_SIGNALS)
    before = [signal.getsignal(number) for number in numbers]
    command(*tiny(photos, tmp_path / "run", "--epochs", "1"))
    assert [signal.getsignal(number) for number in numbers] == before


def stop_at(step, command, monkeypatch, *argv):
    """Train until that step, then stop as Ctrl-C does."""
    with interrupted_after(monkeypatch, step):
        assert command(*argv)[0] == 130


def test_a_run_by_steps_is_resumed_too(command, photos, tmp_path, monkeypatch):
    monkeypatch.setattr(wording, "followed", lambda settings: "for tests")
    status, out, _ = command(*tiny(photos, tmp_path / "alone", "--steps", "10"))
    assert status == 0 and "recipe for tests: " in out
    with interrupted_after(monkeypatch, 9):
        assert command(*tiny(photos, tmp_path / "run", "--steps", "10"))[0] == 128 + signal.SIGINT
    status, out, _ = command("--resume", tmp_path / "run")
    assert status == 0 and "after step 9 of 10" in out and "recipe for tests" not in out
    assert_same_run(tmp_path / "run", tmp_path / "alone")
    assert "is finished" in command("--resume", tmp_path / "run")[1]


def test_a_run_by_steps_that_was_stopped_after_its_last_step_is_evaluated_when_resumed(
    command, photos, tmp_path, monkeypatch
):
    assert command(*tiny(photos, tmp_path / "alone", "--steps", "6"))[0] == 0
    with interrupted_after(monkeypatch, 6):
        assert command(*tiny(photos, tmp_path / "run", "--steps", "6"))[0] == 130
    assert command("--resume", tmp_path / "run")[0] == 0
    assert_same_run(tmp_path / "run", tmp_path / "alone")


def contents(folder):
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.glob("*.*")}


def test_a_finished_run_says_so_and_is_not_changed(command, alone):
    before = contents(alone)
    status, out, err = command("--resume", alone)
    assert (status, err) == (0, "")
    assert out == (
        f"{alone} is finished: all 3 epochs are done, and nothing was changed.\n"
        f"To train it for longer: python -m tinyvit.train --resume {alone} --epochs N\n"
    )
    assert contents(alone) == before
    whole = (alone / "metrics.jsonl").read_text("utf-8")  # a kill after the checkpoint leaves one line less
    (alone / "metrics.jsonl").write_text("".join(whole.splitlines(keepends=True)[:2]), "utf-8")
    assert "epochs are done, and metrics.jsonl is written again." in command("--resume", alone)[1]
    assert (alone / "metrics.jsonl").read_text("utf-8") == whole


LATER = ["metrics.csv", "metrics.jsonl", "curves.png", "split.json", "samples", "patches.png"]


def content(path):
    """The bytes of a file, or of all files in a folder; of curves, which show the time, their name."""
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    return [file.name if file.name == "curves.png" else file.read_bytes() for file in files if file.exists()]


@pytest.mark.parametrize("command", [train, pretrain], ids=["train", "pretrain"])
def test_a_finished_run_gets_back_whatever_is_missing(go, photos, tmp_path, command):
    """As when it was killed between its last checkpoint and these files."""
    data = shutil.copytree(photos, tmp_path / "photos")
    run, names = tmp_path / "run", [name for name in LATER if command is pretrain or name != "patches.png"]
    assert go(command, *tiny(data, run, "--validation", "8"))[0] == 0
    whole = {path.name: content(path) for path in run.iterdir()}
    for lost in ([name] for name in names), [names]:
        for each in lost:
            for name in each:
                shutil.rmtree(run / name) if (run / name).is_dir() else (run / name).unlink()
            status, out, err = go(command, "--resume", run)
            assert (status, err) == (0, "")
            assert all(name in out.splitlines()[-2] for name in each) and " written again." in out, out
            assert {path.name: content(path) for path in run.iterdir()} == whole, each
            assert "nothing was changed" in go(command, "--resume", run)[1]
    (run / "split.json").unlink()
    data.rename(tmp_path / "elsewhere")
    status, out, _ = go(command, "--resume", run)
    assert status == 0 and "split.json cannot be written again: " in out and "nothing was changed" in out
    assert go(command, "--resume", run, "--data-dir", tmp_path / "elsewhere")[0] == 0
    assert content(run / "split.json") == whole["split.json"]


def test_a_run_without_labels_survives_a_kill_around_any_write(go, photos, tmp_path, monkeypatch):
    """Even the one of its last picture, which is of the last weights."""
    flags, left, replace = ("--epochs", "2", "--ema", "0.9"), [], os.replace
    run, alone = tmp_path / "run", tmp_path / "alone"

    def photographed(source, target):
        left.append(shutil.copytree(run, tmp_path / f"left{len(left)}"))
        replace(source, target)

    assert go(pretrain, *tiny(photos, alone, *flags))[0] == 0
    with monkeypatch.context() as patch:
        patch.setattr(files.os, "replace", photographed)
        assert go(pretrain, *tiny(photos, run, *flags))[0] == 0
    for there in left:
        again = ("--resume", there) if (there / "config.json").exists() else tiny(photos, there, *flags)
        assert go(pretrain, *again)[0] == 0
        assert {path.name for path in there.iterdir()} | {"previous.npz"} == {p.name for p in alone.iterdir()}
        assert content(there / "patches.png") == content(alone / "patches.png")
        assert metrics(there) == metrics(alone)


def test_a_finished_run_that_counts_in_steps_is_made_longer_in_steps(command, photos, tmp_path):
    run = tmp_path / "run"
    assert command(*tiny(photos, run, "--steps", "3"))[0] == 0
    _, out, _ = command("--resume", run)
    assert "all 3 steps are done" in out and out.endswith(f"--resume {run} --steps N\n")
    assert command("--resume", run, "--steps", "4")[0] == 0


def test_a_run_without_a_checkpoint_starts_from_the_beginning(command, photos, alone, tmp_path, monkeypatch):
    run = tmp_path / "run"

    def cut(*args):
        raise PowerCut

    with monkeypatch.context() as patch:
        patch.setattr(ReferenceEngine, "step", cut)
        patch.setattr(Claim, "delete_what_was_made", lambda self: None)  # no time for that either
        with pytest.raises(PowerCut):
            command(*noisy(photos, run))
    assert sorted(path.name for path in run.iterdir()) == ["config.json", "samples", "split.json"]
    assert command("--resume", run)[0] == 0
    assert_same_run(run, alone)


def test_a_run_whose_last_checkpoint_is_gone_is_not_begun_again(command, alone):
    """That would write over its best model and its metrics."""
    (alone / "last.npz").unlink()
    (alone / "previous.npz").unlink()
    before = contents(alone)
    assert_one_line(command("--resume", alone), "finished epochs, but no last.npz", "restore the file")
    assert contents(alone) == before


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("seconds", "x"),
        ("loss_sum", []),
        ("best", "x"),
        ("best_loss", []),
        ("records", [{"epoch": 1, "step": 4}]),
    ],
)
def test_progress_that_is_not_made_of_numbers_is_refused(command, photos, tmp_path, monkeypatch, name, value):
    run = tmp_path / "run"
    stop_at(5, command, monkeypatch, *tiny(photos, run))
    content = arrays(run / "last.npz")
    progress = json.loads(str(content["progress"])) | {name: value}
    np.savez(run / "last.npz", **content | {"progress": np.array(json.dumps(progress))})
    assert_one_line(command("--resume", run), "does not match this run")


def test_out_and_resume_continue_that_run(command, photos, alone, tmp_path, monkeypatch):
    stop_at(5, command, monkeypatch, *noisy(photos, tmp_path / "run"))
    assert command("--out", tmp_path / "run", "--resume")[0] == 0
    assert_same_run(tmp_path / "run", alone)


def test_resume_by_itself_takes_the_latest_run(command, photos, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("b", "a", "c"):
        stop_at(5, command, monkeypatch, *tiny(photos, tmp_path / "runs" / name))
    for path in (tmp_path / "runs" / "a").iterdir():
        os.utime(path, (2e9, 2e9))
    status, out, _ = command("--resume")
    assert status == 0
    assert f"run {os.path.join('runs', 'a')}" in out
    assert [len(metrics(tmp_path / "runs" / name)) for name in "abc"] == [3, 1, 1]


def test_resume_without_a_run(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert_one_line(command("--resume"), "no run in runs", "--resume RUN")
    assert_one_line(command("--resume", "nowhere"), "there is no folder nowhere", "run folder")
    assert not list(tmp_path.iterdir())


def test_two_names_for_the_run(command, alone, tmp_path):
    assert_one_line(command("--resume", alone, "--out", tmp_path / "b"), "specify different runs")


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--epochs", "2"), "3 epochs"),
        (("--steps", "20"), "counts in epochs"),
        (("--seed", "1"), "seed 0, not 1"),
        (("--batch-size", "4"), "batch size 8, not 4"),
        (("--whiten",), "whiten False, not True"),
        (("--ema", "0.9"), "ema 0: the rate of an average may change"),
        (("--augment-ops", "3"), "--augment-ops is a setting of randaugment"),
        (("--dataset", "shapes"), "dataset folder, not shapes"),
    ],
)
def test_a_resumed_run_keeps_its_settings(command, photos, tmp_path, monkeypatch, flags, said):
    run = tmp_path / "run"
    stop_at(5, command, monkeypatch, *tiny(photos, run))
    before = contents(run)
    assert_one_line(command("--resume", run, *flags), said, flags[0])
    assert contents(run) == before


def test_settings_that_are_the_same_may_be_given_again(command, photos, alone, tmp_path, monkeypatch):
    stop_at(5, command, monkeypatch, *noisy(photos, tmp_path / "run"))
    assert command(*noisy(photos, tmp_path / "run"), "--resume")[0] == 0
    assert_same_run(tmp_path / "run", alone)


def test_where_to_compute_and_where_the_data_lie_may_change(command, photos, tmp_path, monkeypatch):
    moved = photos.rename(photos.with_name("before"))
    try:
        stop_at(5, command, monkeypatch, *tiny(moved, tmp_path / "run"))
    finally:
        moved.rename(photos)
    assert_one_line(command("--resume", tmp_path / "run"), "before is not a folder")
    assert (
        command("--resume", tmp_path / "run", "--data-dir", photos, "--threads", "2", "--device", "cpu")[0]
        == 0
    )
    assert len(metrics(tmp_path / "run")) == 3


def test_an_existing_run_is_not_started_again(command, photos, alone):
    before = contents(alone)
    assert_one_line(command(*tiny(photos, alone)), "already contains a run", "--resume", "--out")
    assert contents(alone) == before


@pytest.mark.parametrize("torn", ['{"epoch": 1, "st', "", "\x00\x00"])
def test_torn_metrics_are_written_again(command, photos, alone, tmp_path, monkeypatch, torn):
    run = tmp_path / "run"
    stop_at(6, command, monkeypatch, *noisy(photos, run))
    (run / "metrics.jsonl").write_text(torn)
    assert command("--resume", run)[0] == 0
    assert_same_run(run, alone)


def test_seconds_include_the_time_before_a_run_was_resumed(command, photos, tmp_path, monkeypatch):
    run = tmp_path / "run"
    stop_at(6, command, monkeypatch, *tiny(photos, run))
    before = json.loads(str(arrays(run / "last.npz")["progress"]))["seconds"]
    assert before > 0
    command("--resume", run)
    records = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    assert records[0]["seconds"] < before < records[1]["seconds"] < records[2]["seconds"]


def test_a_checkpoint_of_another_optimiser_is_refused(command, photos, tmp_path, monkeypatch):
    for name in ("adam", "sgd"):
        stop_at(6, command, monkeypatch, *tiny(photos, tmp_path / name, "--optimizer", name))
    (tmp_path / "sgd" / "last.npz").replace(tmp_path / "adam" / "last.npz")
    result = command("--resume", tmp_path / "adam")
    assert_one_line(result, "has 'adam' for the setting optimizer", "was made with 'sgd'")


def test_data_that_have_changed_are_refused(command, photos, tmp_path, monkeypatch):
    data, run = tmp_path / "data", tmp_path / "run"
    shutil.copytree(photos, data)
    stop_at(6, command, monkeypatch, *tiny(data, run))
    for i in range(20):
        shutil.copy(data / "red" / f"{i}.png", data / "red" / f"copy{i}.png")
    before = contents(run)
    assert_one_line(command("--resume", run), f"changed since {run} was started", "restore them", "finetune")
    (data / "red").rename(data / "pink")
    assert_one_line(command("--resume", run), "classes of the data", "--data-dir")
    assert contents(run) == before
    (data / "pink").rename(data / "red")
    described = json.loads((run / "config.json").read_text())
    (run / "config.json").write_text(json.dumps(described | {"data": ""}))  # as of an earlier version
    assert_one_line(command("--resume", run), "amount of data", "start a new run")
    (run / "config.json").write_text(json.dumps(described))
    for i in range(20):
        (data / "red" / f"copy{i}.png").unlink()
    assert command("--resume", run, "--epochs", "4")[0] == 0
    assert json.loads((run / "config.json").read_text())["data"] == described["data"]


def test_a_run_that_was_stopped_can_be_extended_as_it_is_resumed(command, photos, tmp_path, monkeypatch):
    stop_at(5, command, monkeypatch, *noisy(photos, tmp_path / "run"))
    assert command("--resume", tmp_path / "run", "--epochs", "4")[0] == 0
    assert [record["step"] for record in metrics(tmp_path / "run")] == [4, 8, 12, 16]


def test_a_run_is_not_extended_beyond_what_its_checkpoint_holds(command, photos, tmp_path, monkeypatch):
    stop_at(5, command, monkeypatch, *tiny(photos, tmp_path / "run"))
    before = contents(tmp_path / "run")
    result = command("--resume", tmp_path / "run", "--epochs", "20001")
    assert_one_line(result, "20,001 epochs are more than the 20,000", "fewer --epochs")
    assert contents(tmp_path / "run") == before


@pytest.mark.parametrize(("flag", "done"), [("--epochs", "1 epoch"), ("--steps", "1 step")])
def test_a_run_of_one_is_spoken_of_as_one(command, photos, tmp_path, flag, done):
    assert command(*tiny(photos, tmp_path / "run", flag, "1"))[0] == 0
    assert f"is finished: its {done} is done, and" in command("--resume", tmp_path / "run")[1]


def test_a_run_is_resumed_outside_the_main_thread(photos, alone, tmp_path, command, monkeypatch):
    """No signal can be caught there; all else is as it was."""
    stop_at(5, command, monkeypatch, *noisy(photos, tmp_path / "run"))
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(session.train, {}, resume=tmp_path / "run").result() == 0
    assert_same_run(tmp_path / "run", alone)
