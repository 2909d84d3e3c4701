"""The mishaps of a run overnight: a folder that vanishes, clocks that go back, a terminal that closes."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from tests.tiny_runs import REPOSITORY, arrays, assert_one_line, assert_same_run, tiny
from tinyvit import train
from tinyvit.engine import ReferenceEngine
from tinyvit.support.files import atomic
from tinyvit.training.run_trainer import SaveClock


def after_step(monkeypatch, number, happens):
    """Let something happen after a step of training, once."""
    take_step = ReferenceEngine.step

    def step(self, plan, lr):
        result = take_step(self, plan, lr)
        if plan.step == number:
            happens(self)
        return result

    monkeypatch.setattr(ReferenceEngine, "step", step)


# Folders.


def test_a_run_folder_that_vanishes_ends_the_run_with_one_line(go, photos, tmp_path, monkeypatch):
    run = tmp_path / "run"
    after_step(monkeypatch, 6, lambda engine: shutil.rmtree(run))
    assert_one_line(
        go(train, *tiny(photos, run)), f"cannot write {run / 'best.npz'}: there is no folder {run}"
    )
    assert not run.exists()


def test_a_run_folder_that_is_back_is_resumed(go, photos, tmp_path, monkeypatch, left_alone):
    """As when a network drive is gone for a while."""
    run, away = tmp_path / "run", tmp_path / "away"
    with monkeypatch.context() as patch:
        after_step(patch, 6, lambda engine: run.rename(away))
        assert go(train, *tiny(photos, run))[0] == 2
    away.rename(run)
    assert go(train, "--resume", run)[0] == 0
    assert_same_run(run, left_alone)


def test_a_disk_that_becomes_read_only_ends_the_run_and_it_is_resumed(
    go, photos, tmp_path, monkeypatch, left_alone
):
    run = tmp_path / "run"

    def refuse(path):
        raise OSError(errno.EROFS, "Read-only file system")

    with monkeypatch.context() as patch:
        after_step(patch, 6, lambda engine: patch.setattr(atomic, "_open_beside", refuse))
        result = go(train, *tiny(photos, run))
    assert_one_line(
        result, f"cannot write {run / 'best.npz'}: Read-only file system", "Nothing was overwritten"
    )
    assert go(train, "--resume", run)[0] == 0
    assert_same_run(run, left_alone)


# Numbers.


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_bad_number_in_a_gradient_ends_the_run_and_is_not_saved(go, photos, tmp_path, monkeypatch, bad):
    """One bit of memory is wrong, once: the last good checkpoint goes on to the end."""
    backward, calls = ReferenceEngine.loss_and_grads, []

    def spoiled(self, *args):
        loss = backward(self, *args)
        calls.append(None)
        if len(calls) == 6:
            self.grads.flat[7] = bad
        return loss

    with monkeypatch.context() as patch:
        patch.setattr("tinyvit.engine.CpuEngine.loss_and_grads", spoiled)
        result = go(train, *tiny(photos, tmp_path / "run"))
    assert_one_line(result, "after step 6 the gradient is not finite", "is kept in")
    assert all(
        np.isfinite(a).all() for name, a in arrays(tmp_path / "run" / "last.npz").items() if "/" in name
    )
    assert go(train, "--resume", tmp_path / "run")[0] == 0


# Clocks.


@pytest.mark.parametrize(
    "names", [("time",), ("monotonic", "perf_counter"), ("time", "monotonic", "perf_counter")]
)
def test_clocks_that_go_back_change_nothing_but_the_times(
    go, photos, tmp_path, monkeypatch, left_alone, names
):
    with monkeypatch.context() as patch:
        for name in names:
            readings = iter(range(10**9, 0, -7))
            patch.setattr(time, name, lambda readings=readings: float(next(readings)))
        status, out, err = go(train, *tiny(photos, tmp_path / "run"))
    assert (status, err) == (0, "")
    assert "done in 0:" in out or "time" in names
    assert_same_run(tmp_path / "run", left_alone)


def test_checkpoints_are_a_minute_apart_or_twenty_times_what_writing_takes(monkeypatch):
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    clock = SaveClock()

    def due_after():
        """Number of seconds until the next checkpoint is due."""
        nonlocal now
        start = now
        while not clock.is_due(60):
            now += 1
        return now - start

    assert due_after() == 61
    for took, expected in ((0, 61), (3, 61), (30, 601), (600, 12_001), (1, 61)):
        with clock.writing():
            now += took
        assert due_after() == expected


# Terminals.


@pytest.mark.skipif(os.name == "nt", reason="Windows has no terminals of this kind")
def test_a_terminal_that_closes_stops_the_run_resumably(go, photos, tmp_path):
    """Its window is closed: SIGHUP, and every write to it fails."""
    import pty

    run, whole = tmp_path / "run", tmp_path / "whole"
    flags = ("--epochs", "100", "--evaluate-every", "100")
    controller, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "tinyvit.train", *tiny(photos, run, *flags)],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
        preexec_fn=new_terminal,
    )
    os.close(terminal)
    shown = b""
    while b"epoch" not in shown:
        shown += os.read(controller, 1000)
    os.close(controller)
    assert process.wait(timeout=100) == 128 + signal.SIGHUP
    assert arrays(run / "last.npz")["progress"]
    assert go(train, "--resume", run)[0] == 0
    assert go(train, *tiny(photos, whole, *flags))[0] == 0
    assert_same_run(run, whole)


def new_terminal():
    """Make standard input the terminal of a new session, as a terminal's window does."""
    import fcntl
    import termios

    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
