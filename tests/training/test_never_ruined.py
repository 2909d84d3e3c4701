"""Nothing outside a run can ruin it: other runs, full disks, closed pipes, signals, a lost terminal."""

import argparse
import json
import os
import signal
import sys
import threading

import pytest

from tests.support.shell.terminal import Unread
from tests.tiny_runs import (
    MOMENTARY,
    STOPPING,
    arrays,
    assert_one_line,
    assert_same_bits,
    assert_same_run,
    interrupted_after,
    metrics,
    spawn,
    tiny,
)
from tinyvit.backend import select_device
from tinyvit.support.errors import UserError
from tinyvit.training import evaluation, session
from tinyvit.training.run_folder import RunFolder
from tinyvit.training.session import train as train_session
from tinyvit.training.settings import Settings
from tinyvit.training.signals import stop_signals

LONG = ("--epochs", "40", "--layers", "2")  # so that it is not over before its reader leaves

# What cannot be written.


@pytest.mark.parametrize("name", ["draw_curves", "write_metrics"])
def test_a_picture_or_metrics_file_that_fails_does_not_end_the_run(
    command, photos, alone, tmp_path, monkeypatch, name
):
    def failing(*args, **kwargs):
        raise UserError("cannot write it: No space left on device.")

    where = {"draw_curves": "insight.pictures.of_runs.draw_curves"}
    where["write_metrics"] = "training.run_trainer.RunFolder.write_metrics"
    with monkeypatch.context() as patch:
        patch.setattr(f"tinyvit.{where[name]}", failing)
        status, out, err = command(*tiny(photos, tmp_path / "run"))
    assert (status, err) == (0, "")
    assert out.count("was not written, but training continues: cannot write it") == 1
    for checkpoint in ("last.npz", "best.npz"):
        assert_same_bits(tmp_path / "run" / checkpoint, alone / checkpoint)


def test_the_checkpoint_is_saved_before_metrics_and_pictures(command, photos, tmp_path, monkeypatch):
    saved = []

    def looks(run, records):
        saved.append(json.loads(str(arrays(run.last_path)["progress"]))["step"])

    monkeypatch.setattr("tinyvit.training.run_trainer.RunFolder.write_metrics", looks)
    assert command(*tiny(photos, tmp_path / "run"))[0] == 0
    assert saved == [4, 8, 12]


# Requests to end.


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGHUP")
def test_closing_the_terminal_stops_the_run_resumably(command, photos, alone, tmp_path, monkeypatch):
    with interrupted_after(monkeypatch, 5, signal.SIGHUP):
        status, _, _ = command(*tiny(photos, tmp_path / "run"))
    assert status == 128 + signal.SIGHUP
    assert command("--resume", tmp_path / "run")[0] == 0
    assert_same_run(tmp_path / "run", alone)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGHUP")
@pytest.mark.parametrize("number", [signal.SIGTERM, getattr(signal, "SIGHUP", 1)])
def test_a_request_to_end_before_training_leaves_no_folder(command, photos, tmp_path, monkeypatch, number):
    monkeypatch.setattr("tinyvit.training.run_data.load_dataset", lambda *args: signal.raise_signal(number))
    assert command(*tiny(photos, tmp_path / "run"))[0] == 128 + number
    assert not (tmp_path / "run").exists()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGHUP")
def test_a_run_under_nohup_outlives_its_terminal(command, photos, alone, tmp_path, monkeypatch):
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    with interrupted_after(monkeypatch, 5, signal.SIGHUP):
        assert command(*tiny(photos, tmp_path / "run"))[0] == 0
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    assert_same_run(tmp_path / "run", alone)


def test_the_first_ctrl_c_explains_what_happens_next(command, photos, tmp_path, monkeypatch):
    with interrupted_after(monkeypatch, 2):
        _, _, err = command(*tiny(photos, tmp_path / "run"))
    assert err == STOPPING


@pytest.mark.skipif(os.name == "nt", reason="closed pipes are another error there")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_leaves_ends_the_run_resumably(
    command, photos, run_once, tmp_path, unbuffered, monkeypatch
):
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    process = spawn("train", *tiny(photos, tmp_path / "run", *LONG))
    assert any(line.startswith("tinyvit") for line in process.stdout)  # then the reader leaves, as head does
    process.stdout.close()
    err = process.stderr.read()
    process.wait(timeout=100)
    step = json.loads(str(arrays(tmp_path / "run" / "last.npz")["progress"]))["step"]
    assert process.returncode == 128 + signal.SIGPIPE
    assert err.splitlines() == [
        f"nobody reads the output any more: stopped after step {step}, which is saved. To resume:",
        f"  python -m tinyvit.train --resume {tmp_path / 'run'}",
    ]
    assert len(metrics(tmp_path / "run")) < 40
    assert command("--resume", tmp_path / "run")[0] == 0
    assert_same_run(tmp_path / "run", run_once(*LONG))


def test_ctrl_c_that_ends_the_reader_too_is_no_success(command, photos, alone, tmp_path, monkeypatch):
    """As with `| tee log`: the first line after Ctrl-C finds nobody."""
    monkeypatch.setattr(sys, "stdout", Unread("epoch 1/3"))
    with interrupted_after(monkeypatch, 5):
        status, _, err = command(*tiny(photos, tmp_path / "run"))
    resume = f"  python -m tinyvit.train --resume {tmp_path / 'run'}\n"
    assert (status, err) == (130, f"{STOPPING}stopped after step 5, which is saved. To resume:\n{resume}")
    monkeypatch.undo()
    assert command("--resume", tmp_path / "run")[0] == 0
    assert_same_run(tmp_path / "run", alone)


def test_a_run_that_is_finished_when_its_reader_leaves_is_a_success(
    command, photos, alone, tmp_path, monkeypatch
):
    """The last epoch's line has nobody to read it, or what comes after it."""
    for last in ("epoch 2/3", "epoch 3/3"):
        run = tmp_path / last.replace("/", " of ")
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", Unread(last))
            status, _, err = command(*tiny(photos, run))
        assert (status, err) == (0, "")
        assert_same_run(run, alone)


def test_signals_are_left_alone_outside_the_main_thread(photos, tmp_path):
    before, ends = signal.getsignal(signal.SIGINT), []

    def work():
        with stop_signals() as stop:
            ends.append((bool(stop), signal.getsignal(signal.SIGINT)))
        chosen = {"dataset": "folder", "data_dir": str(photos), "image_size": 8, "model": "nano/4"}
        chosen |= {"epochs": 1, "batch_size": 8, "threads": 1, "device": "cpu", "crop_padding": 1}
        ends.append(train_session(chosen, tmp_path / "run"))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert ends == [(False, before), 0]
    assert len(metrics(tmp_path / "run")) == 1


def test_a_signal_that_is_not_handled_by_python_is_left_alone(monkeypatch):
    changed, real = [], signal.signal
    monkeypatch.setattr(signal, "getsignal", lambda number: None)  # its handler was installed by a C program
    monkeypatch.setattr(
        signal, "signal", lambda number, handler: changed.append(number) or real(number, handler)
    )
    with stop_signals():
        pass
    assert not changed


# Longer than planned, and once more.


def test_a_finished_run_can_be_extended(command, photos, tmp_path):
    run = tmp_path / "run"
    flags = ("--decay", "constant", "--warmup-epochs", "0.5")  # then the schedule is that of a longer run
    assert command(*tiny(photos, run, "--epochs", "2", *flags))[0] == 0
    assert command(*tiny(photos, tmp_path / "long", "--epochs", "5", *flags))[0] == 0
    assert f"--resume {run} --epochs N" in command("--resume", run)[1]
    status, out, err = command("--resume", run, "--epochs", "5")
    assert (status, err) == (0, "")
    assert "extended from 2 epochs to 5 epochs: the learning rate now follows the schedule" in out
    assert_same_run(run, tmp_path / "long")
    settings = json.loads((run / "config.json").read_text())["settings"]
    assert settings == json.loads((tmp_path / "long" / "config.json").read_text())["settings"]


def test_what_is_chosen_when_a_run_is_extended_holds_for_that_time_only(
    command, photos, tmp_path, monkeypatch
):
    run = tmp_path / "run"
    assert command(*tiny(photos, run, "--epochs", "1"))[0] == 0
    before = json.loads((run / "config.json").read_text())["settings"]
    monkeypatch.chdir(photos.parent)
    free = ("--threads", "1", "--device", "cpu", "--data-dir", photos.name)
    assert command("--resume", run, "--epochs", "2", *free)[0] == 0
    monkeypatch.chdir(tmp_path)
    for flags in (("--epochs", "3"), ()):  # () only asks how long it should be
        assert command("--resume", run, *flags)[0] == 0
    after = json.loads((run / "config.json").read_text())["settings"]
    assert after == before | {"epochs": 3, "steps": None}


def test_the_schedule_of_an_extended_run_is_that_of_the_longer_one(command, photos, tmp_path):
    run = tmp_path / "run"
    assert command(*tiny(photos, run, "--epochs", "2"))[0] == 0
    low = metrics(run)[-1]["lr"]
    assert command("--resume", run, "--epochs", "8")[0] == 0
    rates = [record["lr"] for record in metrics(run)]
    assert rates[1] == low
    assert rates[2] > 3 * low  # back on the higher curve of a run of 8 epochs
    assert rates[2:] == sorted(rates[2:], reverse=True)


def test_an_epoch_that_was_cut_short_is_completed_when_a_run_by_steps_is_extended(command, photos, tmp_path):
    run, flags = tmp_path / "run", ("--decay", "constant", "--warmup-epochs", "0.5")
    assert command(*tiny(photos, run, "--steps", "6", *flags))[0] == 0
    assert command(*tiny(photos, tmp_path / "long", "--steps", "10", *flags))[0] == 0
    assert command("--resume", run, "--steps", "10")[0] == 0
    assert_same_bits(run / "last.npz", tmp_path / "long" / "last.npz")
    assert metrics(run) == metrics(tmp_path / "long")


def test_a_run_is_made_longer_not_shorter_and_in_a_unit_that_it_shows(command, alone, photos, tmp_path):
    assert_one_line(command("--resume", alone, "--epochs", "2"), "made longer, not shorter")
    assert_one_line(command("--resume", alone, "--steps", "99"), "counts in epochs", "use --epochs")
    run, flags = tmp_path / "run", ("--decay", "constant", "--warmup-epochs", "0.5")
    _, out, _ = command(*tiny(photos, run, "--steps", "6", *flags))
    assert "\nepoch 2/2  " in out
    assert_one_line(command("--resume", run, "--epochs", "1"), "was started for 2 epochs", "not shorter")
    assert "is finished: all 6 steps are done" in command("--resume", run, "--epochs", "2")[1]
    assert "extended from 6 steps to 3 epochs: " in command("--resume", run, "--epochs", "3")[1]
    assert RunFolder(run).changed() == [{"step": 7, "epoch": 2, "epochs": [2, 3], "steps": [6, None]}]
    assert command(*tiny(photos, tmp_path / "long", "--epochs", "3", *flags))[0] == 0
    assert_same_bits(run / "last.npz", tmp_path / "long" / "last.npz")
    assert "all 3 epochs are done" in command("--resume", run)[1]


def test_a_run_is_repeated_from_its_config(command, alone, tmp_path):
    again = tmp_path / "again"
    status, _, err = command("--config", alone / "config.json", "--out", again)
    assert (status, err) == (0, "")
    assert_same_run(again, alone)
    other = tmp_path / "other"
    assert command("--config", alone / "config.json", "--out", other, "--epochs", "1", "--seed", "5")[0] == 0
    settings = Settings.from_dict(json.loads((other / "config.json").read_text())["settings"])
    assert (settings.epochs, settings.seed, settings.model) == (1, 5, "nano/4")
    assert_one_line(command("--config", alone / "config.json", "--resume", alone), "omit --config")
    assert_one_line(command("--config", tmp_path / "nowhere.json"), "nowhere.json")


def test_a_repeated_run_keeps_its_own_warmup_even_if_it_is_a_long_one(command, photos, tmp_path):
    run, again, short = tmp_path / "run", tmp_path / "again", tmp_path / "short"
    assert command(*tiny(photos, run, "--warmup-epochs", "2"))[0] == 0
    assert command("--config", run / "config.json", "--out", again)[0] == 0
    assert_same_run(again, run)
    assert command("--config", run / "config.json", "--out", short, "--epochs", "2")[0] == 0
    settings = Settings.load(short / "config.json")
    assert (settings.epochs, settings.warmup_epochs) == (2, 0.5)
    for first, flags, warmup in (
        (("--warmup-epochs", "2"), ("--epochs", "1"), (0.25, None)),  # though 2 are longer than it
        (("--warmup-steps", "9"), ("--steps", "8"), (0.5, 2)),
        (("--warmup-steps", "9"), ("--steps", "8", "--warmup-steps", "8"), (0.5, 8)),
    ):
        run, short = (tmp_path / "-".join(flags) / name for name in ("run", "short"))
        assert command(*tiny(photos, run, *first))[0] == 0
        assert command("--config", run / "config.json", "--out", short, *flags)[0] == 0
        settings = Settings.load(short / "config.json")
        assert (settings.warmup_epochs, settings.warmup_steps) == warmup


def test_a_repeated_run_computes_where_its_config_says_unless_the_user_says_otherwise(
    command, alone, tmp_path, monkeypatch
):
    asked = []
    monkeypatch.setattr(
        session, "select_device", lambda wanted, number: asked.append(wanted) or select_device("cpu")
    )
    for number, flags in enumerate(((), ("--device", "auto"))):
        assert command("--config", alone / "config.json", "--out", tmp_path / str(number), *flags)[0] == 0
    assert asked == ["cpu", "auto"]


def test_metrics_tell_rate_gradient_and_both_losses(alone):
    for line in (alone / "metrics.jsonl").read_text().splitlines():
        record = json.loads(line)
        assert record.keys() - set(MOMENTARY) == {
            *("epoch", "step", "lr", "grad_norm", "train_loss", "test_loss", "test_accuracy")
        }
        assert record["lr"] > 0 and record["grad_norm"] > 0 and record["test_loss"] > 0


def test_what_best_says_is_what_best_npz_holds_when_an_epoch_is_completed_later(
    command, photos, tmp_path, monkeypatch
):
    run, found = tmp_path / "run", iter([(0.5, 1.0), (0.9, 0.5), (0.6, 0.9)])  # the half epoch is the best

    def judged(*args):
        accuracy, loss = next(found)
        return argparse.Namespace(accuracy=accuracy, loss=loss)

    monkeypatch.setattr(evaluation, "evaluate", judged)
    assert command(*tiny(photos, run, "--steps", "6"))[0] == 0
    best = (run / "best.npz").read_bytes()
    status, out, _ = command("--resume", run, "--steps", "8")
    assert status == 0 and ": best.npz, of epoch 2, has the best test accuracy, 90.0%; after the last" in out
    assert "; after the last epoch it was 60.0% (95% interval 28.7 to 84.8). Next:" in out
    assert (run / "best.npz").read_bytes() == best
    progress = json.loads(str(arrays(run / "last.npz")["progress"]))
    assert (progress["best"], progress["best_epoch"]) == (0.9, 2)
