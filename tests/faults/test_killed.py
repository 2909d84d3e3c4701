"""A run that is killed by the system is resumed, and ends with the same bits as one that was left alone.

Here it is killed at a few chosen moments; `python -m tests.faults.kills` chooses fifty at random, and
`python -m tests.faults.killed_writers` does so for exports and unpacking.
"""

import os
import signal
import subprocess
import sys

import pytest

from tests.tiny_runs import REPOSITORY, arrays, assert_same_bits, assert_same_run, spawn, tiny
from tinyvit import export, finetune, train

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")


def killed(where, number, *words):
    """Run a command that is killed there; returns what it printed on standard error."""
    process = subprocess.run(
        [sys.executable, "-m", "tests.faults.killed", where, str(number), *map(str, words)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert process.returncode == -signal.SIGKILL, process
    return process.stderr


FLAGS = ("--dropout", "0.1", "--drop-path", "0.1", "--epochs", "2")


@pytest.fixture(scope="module")
def alone(photos, tmp_path_factory):
    """A run with FLAGS that was left alone."""
    run = tmp_path_factory.mktemp("runs") / "alone"
    assert spawn("train", *tiny(photos, run, *FLAGS)).communicate(timeout=100)[1] == ""
    return run


@pytest.mark.parametrize(
    ("where", "number"),
    [
        *(("step", 1), ("step", 6), ("before config.json", 1), ("after config.json", 1)),
        *(("half last.npz", 5), ("after best.npz", 2), ("after metrics.jsonl", 2), ("half curves.png", 2)),
    ],
)
def test_a_run_is_killed_at_the_worst_moment(go, photos, alone, tmp_path, where, number):
    run = tmp_path / "run"
    assert killed(where, number, "train", *tiny(photos, run, *FLAGS)) == ""
    again = ("--resume", run) if (run / "config.json").exists() else tiny(photos, run, *FLAGS)
    assert go(train, *again)[0] == 0
    assert_same_run(run, alone)


def test_fine_tuning_that_is_killed_before_its_first_step_keeps_the_weights_it_started_from(
    go, photos, tmp_path
):
    base, other, run, alone = (tmp_path / name for name in ("base", "other", "run", "alone"))
    for seed, path in enumerate((base, other)):
        assert go(train, *tiny(photos, path, "--steps", "1", "--seed", seed))[0] == 0
    flags = ["--dataset", "folder", "--data-dir", photos, "--threads", "1", "--optimizer", "adamw"]
    flags += ["--steps", "3", "--batch-size", "8"]
    assert go(finetune, base, *flags, "--out", alone)[0] == 0
    killed("step", 1, "finetune", base, *flags, "--out", run)
    assert sorted(path.name for path in run.iterdir()) == ["config.json", "last.npz", "samples", "split.json"]
    os.replace(other / "best.npz", base / "best.npz")
    assert go(finetune, "--resume", run)[0] == 0
    assert_same_bits(run / "last.npz", alone / "last.npz")
    assert "optimizer/m" in arrays(run / "last.npz")


def test_fine_tuning_without_any_checkpoint_says_that_it_reads_the_weights_again(go, photos, tmp_path):
    base, run = tmp_path / "base", tmp_path / "run"
    assert go(train, *tiny(photos, base, "--steps", "1"))[0] == 0
    flags = ["--dataset", "folder", "--data-dir", photos, "--threads", "1", "--steps", "1", "--out", run]
    assert go(finetune, base, *flags)[0] == 0
    for name in ("last.npz", "previous.npz", "best.npz", "metrics.jsonl"):  # as if killed before the first
        (run / name).unlink()
    status, out, _ = go(finetune, "--resume", run)
    assert status == 0
    assert f"there is no checkpoint yet: {base} is read again, and may have changed" in out


@pytest.mark.parametrize(
    ("where", "name"),
    [
        ("half model.npz", "model.npz"),
        ("before model.html", "model.html"),
        ("half model.safetensors", "model"),
        ("after config.json", "model"),  # all but one of the files of a folder
    ],
)
def test_an_export_that_is_killed_leaves_nothing_to_be_taken_for_a_model(go, alone, tmp_path, where, name):
    out = tmp_path / "out"
    out.mkdir()
    assert killed(where, 1, "export", alone, out / name) == ""
    assert [path.name.startswith(f".{name}.") for path in out.iterdir()] == [True]
    assert go(export, alone, out / name)[0] == 0
    assert [path.name for path in out.iterdir()] == [name]


@pytest.mark.parametrize(("where", "name"), [("half model.npz", "model.npz"), ("after config.json", "model")])
def test_an_export_that_is_killed_leaves_the_one_before(go, alone, tmp_path, where, name):
    out = tmp_path / "out" / name
    out.parent.mkdir()
    assert go(export, alone, out)[0] == 0

    def left():
        return {path: path.read_bytes() for path in (out, *out.rglob("*")) if path.is_file()}

    before = left()
    killed(where, 1, "export", alone, out)
    assert left() == before
    assert go(export, alone, out)[0] == 0
    assert [path.name for path in out.parent.iterdir()] == [name]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
def test_writers_killed_at_random_moments_leave_whole_files_or_none():
    words = ["-m", "tests.faults.killed_writers", "--times", "8", "--width", "24"]
    result = subprocess.run([sys.executable, *words], cwd=REPOSITORY, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "8 kills" in result.stdout
