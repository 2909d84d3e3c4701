"""The folders that a run may claim; a run that never got anywhere leaves nothing behind."""

import signal
from pathlib import Path

import pytest
from PIL import Image

from tests.tiny_runs import assert_one_line, tiny
from tests.training.runs.claims import create, everything_below, without_out
from tinyvit import train
from tinyvit.support.errors import UserError
from tinyvit.support.files import locks
from tinyvit.training.run_folder import RunFolder

needs_locks = pytest.mark.skipif(locks.fcntl is None, reason="Windows has no locks of this kind")


# Which folders may be claimed.


def test_the_first_number_that_is_free(tmp_path):
    (tmp_path / "shapes-2").mkdir()
    (tmp_path / "shapes-3").write_text("a file")
    taken = [RunFolder.claim(None, "shapes", tmp_path).path.name for _ in range(3)]
    assert taken == ["shapes-1", "shapes-4", "shapes-5"]
    assert RunFolder.claim(None, "cifar10", tmp_path / "a" / "b").path == tmp_path / "a" / "b" / "cifar10-1"


def test_a_folder_that_holds_a_run_is_refused(tmp_path):
    create(RunFolder(tmp_path / "run"))
    with pytest.raises(UserError, match="already contains a run: add --resume"):
        RunFolder.claim(tmp_path / "run", "shapes")
    assert everything_below(tmp_path) == ["run", "run/config.json"]


@pytest.mark.parametrize(
    "name", ["config.json", "metrics.jsonl", "metrics.csv", "last.npz", "best.npz", "curves.png"]
)
def test_a_folder_with_a_file_that_a_run_would_overwrite_is_refused(tmp_path, name):
    (tmp_path / name).write_text("precious")
    with pytest.raises(UserError, match=f"contains a file {name}, which a run would overwrite"):
        RunFolder.claim(tmp_path, "shapes")
    assert (tmp_path / name).read_text() == "precious"


def test_a_folder_with_other_files_may_be_used_and_keeps_them(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    run = RunFolder.claim(tmp_path, "shapes")
    create(run)
    run.release()
    assert everything_below(tmp_path) == ["notes.txt"]


def test_a_file_cannot_be_claimed(tmp_path):
    (tmp_path / "run").write_text("a file")
    with pytest.raises(UserError, match=r"cannot create the run folder .*: there is a file of that name"):
        RunFolder.claim(tmp_path / "run", "shapes")
    with pytest.raises(UserError, match="cannot create the run folder"):
        RunFolder.claim(tmp_path / "run" / "deeper", "shapes")
    assert (tmp_path / "run").read_text() == "a file"


def test_a_folder_that_cannot_be_made_is_a_users_problem(tmp_path, monkeypatch):
    mkdir = Path.mkdir

    def closed(path, *args, **keywords):
        if path.parent.name == "closed":
            raise PermissionError(13, "Permission denied")
        mkdir(path, *args, **keywords)

    monkeypatch.setattr(Path, "mkdir", closed)
    for out, root in ((tmp_path / "closed" / "run", None), (None, tmp_path / "closed")):
        with pytest.raises(UserError, match=r"cannot create the run folder .*: Permission denied"):
            RunFolder.claim(out, "shapes", root)
        assert everything_below(tmp_path) == []


# What is left when nothing came of it.


@pytest.mark.parametrize("created", [False, True])
def test_release_deletes_what_was_made(tmp_path, created):
    run = RunFolder.claim(tmp_path / "a" / "b" / "run", "shapes")
    if created:
        create(run)
    run.release()
    assert everything_below(tmp_path) == []


def test_release_leaves_what_was_there(tmp_path):
    (tmp_path / "a" / "run").mkdir(parents=True)
    run = RunFolder.claim(tmp_path / "a" / "run", "shapes")
    create(run)
    run.release()
    assert everything_below(tmp_path) == ["a", "a/run"]


def test_release_leaves_what_others_put_there(tmp_path):
    run = RunFolder.claim(tmp_path / "a" / "run", "shapes")
    create(run)
    (tmp_path / "a" / "run" / "notes.txt").write_text("mine")
    run.release()
    assert everything_below(tmp_path) == ["a", "a/run", "a/run/notes.txt"]


@pytest.mark.parametrize("checkpoint", ["last.npz", "best.npz"])
def test_release_leaves_a_run_with_a_checkpoint(tmp_path, checkpoint):
    run = RunFolder.claim(tmp_path / "run", "shapes")
    create(run)
    (tmp_path / "run" / checkpoint).write_bytes(b"")
    run.release()
    assert everything_below(tmp_path) == sorted(["run", f"run/{checkpoint}", "run/config.json"])


def test_a_resumed_run_without_a_checkpoint_is_not_deleted(tmp_path):
    create(RunFolder(tmp_path / "run"))
    run = RunFolder.open(tmp_path / "run")
    run.lock()
    run.release()
    assert everything_below(tmp_path) == ["run", "run/config.json"]


@pytest.mark.parametrize("flags", [("--data-dir", "nowhere"), ("--batch-size", "1000"), ("--model", "giant")])
def test_a_mistake_leaves_no_folder(go, photos, tmp_path, monkeypatch, flags):
    monkeypatch.chdir(tmp_path)
    for out in ("new/run", None):
        words = ("--out", out) if out else ()
        assert_one_line(go(train, *without_out(photos), *words, *flags))
        assert everything_below(tmp_path) == []


def test_an_interruption_before_the_first_checkpoint_leaves_no_folder(go, photos, tmp_path, monkeypatch):
    decode = Image.open

    interruptions = iter(
        [signal.SIGINT]
    )  # only the first photo: a second signal would interrupt the clearing up

    def interrupted(*args, **keywords):
        for number in interruptions:
            signal.raise_signal(number)
        return decode(*args, **keywords)

    monkeypatch.setattr(Image, "open", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    try:
        assert go(train, *tiny(photos, tmp_path / "run"))[0] == 130
    finally:
        signal.signal(signal.SIGINT, before)
    assert everything_below(tmp_path) == []


# Where there are no locks.


@pytest.fixture
def no_locks(monkeypatch):
    monkeypatch.setattr(locks, "fcntl", None)


def test_without_locks_numbered_folders_still_differ(no_locks, tmp_path):
    taken = [RunFolder.claim(None, "shapes", tmp_path).path.name for _ in range(3)]
    assert taken == ["shapes-1", "shapes-2", "shapes-3"]


def test_without_locks_the_second_run_in_a_folder_is_refused_when_it_writes(no_locks, tmp_path):
    one, other = (RunFolder.claim(tmp_path / "run", "shapes") for _ in range(2))
    create(one)
    with pytest.raises(UserError, match="already contains a run"):
        create(other)
    other.release()
    assert everything_below(tmp_path) == ["run", "run/config.json"]


def test_without_locks_training_and_resuming_work(no_locks, go, photos, tmp_path):
    assert go(train, *tiny(photos, tmp_path / "run", "--epochs", "1"))[0] == 0
    assert go(train, "--resume", tmp_path / "run")[0] == 0


@needs_locks
def test_a_file_system_without_locks_does_not_stop_training(go, photos, tmp_path, monkeypatch):
    def unsupported(*args):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(locks.fcntl, "flock", unsupported)
    assert go(train, *tiny(photos, tmp_path / "run", "--epochs", "1"))[0] == 0


def test_what_a_run_has_written_stays_once_it_is_released(tmp_path):
    run = RunFolder.claim(tmp_path / "run", "shapes")
    (run.path / "config.json").write_text("{}")
    run._claim.add(run.path / "config.json")
    run._claim.unlock()
    run._claim.delete_what_was_made()
    assert (run.path / "config.json").is_file()
