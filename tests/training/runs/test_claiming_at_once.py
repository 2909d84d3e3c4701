"""No two processes train into the same folder, however many start at once."""

import os
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from PIL import Image

from tests.tiny_runs import REPOSITORY, assert_one_line, assert_same_bits, metrics, spawn, tiny
from tests.training.runs.claims import everything_below, without_out
from tinyvit import train
from tinyvit.support.errors import UserError
from tinyvit.support.files import locks
from tinyvit.training.run_folder import RunFolder

needs_locks = pytest.mark.skipif(locks.fcntl is None, reason="Windows has no locks of this kind")
# For each line on its standard input, a time and perhaps a name, claims the folder of that name, or a new
# one, at that time, and keeps it to its end.
CLAIMANT = """
import sys
import time
from pathlib import Path
from tinyvit.support.errors import UserError
from tinyvit.training.run_folder import RunFolder

print("ready", flush=True)
kept = []
for line in sys.stdin:
    start, *names = line.split()
    while time.time() < float(start):
        pass
    try:
        kept.append(RunFolder.claim(Path(names[0]) if names else None, "shapes"))
        print(kept[-1].path, flush=True)
    except UserError as error:
        print("refused:", error, flush=True)
"""


class Claimant:
    """A process of its own that claims folders in folder."""

    def __init__(self, folder):
        self.process = subprocess.Popen(
            [sys.executable, "-c", CLAIMANT],
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
        )
        assert self.answer() == "ready"

    def claim(self, name="", start=0.0):
        self.process.stdin.write(f"{start} {name}\n")
        self.process.stdin.flush()

    def answer(self):
        return self.process.stdout.readline().strip()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.kill()
        self.process.communicate()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder in which the claimants are."""
    return tmp_path_factory.mktemp("claimed")


@pytest.fixture(scope="module")
def claimants(folder):
    """Three processes, ready to go."""
    with ExitStack() as stack:
        yield [stack.enter_context(Claimant(folder)) for _ in range(3)]


def all_at_once(claimants, name=""):
    start = time.time() + 0.01
    for claimant in claimants:
        claimant.claim(name, start)
    return [claimant.answer() for claimant in claimants]


# Several processes at once.


def test_three_processes_at_once_get_three_folders_every_time(claimants, folder):
    rounds = 20
    claimed = [path for _ in range(rounds) for path in all_at_once(claimants)]
    assert sorted(claimed) == sorted(os.path.join("runs", f"shapes-{n}") for n in range(1, 3 * rounds + 1))
    assert len(everything_below(folder / "runs")) == 3 * rounds


def test_a_folder_that_another_process_creates_at_the_last_moment_is_left_alone(tmp_path, monkeypatch):
    mkdir, others = Path.mkdir, []

    def overtaken(path, *args, **keywords):
        if path.name == "shapes-1" and not others:
            others.append(None)
            others.append(RunFolder.claim(None, "shapes", tmp_path / "runs").path.name)
        mkdir(path, *args, **keywords)

    monkeypatch.setattr(Path, "mkdir", overtaken)
    run = RunFolder.claim(None, "shapes", tmp_path / "runs")
    assert [run.path.name, others[1]] == ["shapes-2", "shapes-1"]
    run.release()
    assert everything_below(tmp_path) == ["runs", "runs/shapes-1"]


@needs_locks
@pytest.mark.parametrize("existing", [False, True])
def test_a_named_folder_goes_to_exactly_one_of_three(claimants, folder, existing):
    for number in range(20):
        name = f"{'existing' if existing else 'new'}{number}"
        if existing:
            (folder / name).mkdir()
        answers = all_at_once(claimants, name)
        assert answers.count(name) == 1, answers
        assert sum(f"{name} is in use: another process" in answer for answer in answers) == 2, answers


def test_three_trainings_started_at_once_are_three_good_runs(tmp_path):
    """They take a while to read their data, so that none has written anything when the last one starts."""
    large = Image.effect_noise((500, 500), 50).convert("RGB")
    for name in ("red", "blue"):
        (tmp_path / "photos" / name).mkdir(parents=True)
        for i in range(20):
            large.save(tmp_path / "photos" / name / f"{i}.png", compress_level=1)
    flags = [*without_out(tmp_path / "photos"), "--epochs", "1"]
    processes = [spawn("train", *flags, cwd=tmp_path) for _ in range(3)]
    for process in processes:
        _, err = process.communicate(timeout=100)
        assert (process.returncode, err) == (0, "")
    runs = [tmp_path / "runs" / f"folder-{n}" for n in (1, 2, 3)]
    assert sorted((tmp_path / "runs").iterdir()) == runs
    for run in runs:
        assert len(metrics(run)) == 1
        assert RunFolder.open(run).load("last").progress["step"] == 4
        assert_same_bits(run / "last.npz", runs[0] / "last.npz")


@needs_locks
def test_the_lock_of_a_killed_process_is_gone(tmp_path):
    run = RunFolder(tmp_path / "run")
    with Claimant(tmp_path) as claimant:
        claimant.claim("run")
        assert claimant.answer() == "run"
        with pytest.raises(UserError, match="is in use: another process is training into it"):
            run.lock()
    run.lock()
    run.release()


@needs_locks
def test_a_run_that_is_being_trained_cannot_be_resumed_as_well(go, photos, tmp_path):
    assert go(train, *tiny(photos, tmp_path / "run", "--epochs", "1"))[0] == 0
    other = RunFolder.open(tmp_path / "run")
    other.lock()
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "run").iterdir()}
    assert_one_line(go(train, "--resume", tmp_path / "run"), tmp_path / "run", "is in use", "Wait for it")
    assert_one_line(go(train, *tiny(photos, tmp_path / "run")), tmp_path / "run", "is in use", "--out")
    assert {path.name: path.stat().st_mtime_ns for path in (tmp_path / "run").iterdir()} == before
    other.release()
    assert go(train, "--resume", tmp_path / "run")[0] == 0


def test_locking_twice_and_releasing_twice_does_no_harm(tmp_path):
    run = RunFolder.claim(tmp_path / "run", "shapes")
    run.lock()
    run.release()
    run.release()
    RunFolder.claim(tmp_path / "run", "shapes").release()
