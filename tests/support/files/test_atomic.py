"""A file is written completely or not at all, and no temporary file is left behind."""

import errno
import os
import stat
import subprocess
import sys
import time

import pytest

from tests.tiny_runs import REPOSITORY
from tinyvit.support.errors import UserError
from tinyvit.support.files import atomic as files
from tinyvit.support.files import locks
from tinyvit.support.files.atomic import write_atomically
from tinyvit.training.run_folder import RunFolder

needs_locks = pytest.mark.skipif(locks.fcntl is None, reason="Windows has no locks of this kind")


def listing(folder):
    return sorted(path.name for path in folder.iterdir())


def test_writes_and_replaces(tmp_path):
    path = tmp_path / "a.txt"
    for content in (b"one", b"another"):
        write_atomically(path, lambda file, content=content: file.write(content))
        assert path.read_bytes() == content
    assert listing(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_disk_that_refuses_is_a_users_problem(tmp_path, monkeypatch, call):
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")

    def full(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files.os, call, full)
    with pytest.raises(UserError, match=r"cannot write .*a\.txt: No space left on device\. .* free some"):
        write_atomically(path, lambda file: file.write(b"new"))
    assert path.read_bytes() == b"old"
    assert listing(tmp_path) == ["a.txt"]


@pytest.mark.parametrize(
    ("number", "remedy"),
    [
        *((number, "free some space, or choose another folder") for number in ("ENOSPC", "EDQUOT", "EFBIG")),
        *((number, "choose a folder that you may write to") for number in ("EROFS", "EACCES", "EPERM")),
        ("EISDIR", "there is a folder of that name: choose another name, or move the folder"),
        ("ENAMETOOLONG", "choose a shorter name"),
        ("EIO", "choose another folder"),
    ],
)
def test_the_remedy_is_that_of_the_error(tmp_path, monkeypatch, number, remedy):
    def refuse(*args):
        raise OSError(getattr(errno, number), "no")

    monkeypatch.setattr(files.os, "fsync", refuse)
    with pytest.raises(UserError) as refused:
        write_atomically(tmp_path / "a.txt", lambda file: file.write(b"new"))
    assert str(refused.value) == (
        f"cannot write {tmp_path / 'a.txt'}: no. Nothing was overwritten; {remedy}."
    )


class Scanner:
    """A program that has files open for a moment, so that Windows refuses to replace them."""

    def __init__(self, monkeypatch, times):
        self.times, self.replace = times, os.replace
        monkeypatch.setattr(files.os, "replace", self)

    def __call__(self, source, target):
        self.times -= 1
        if self.times >= 0:
            raise PermissionError(errno.EACCES, "Access is denied")
        self.replace(source, target)


def _write_folder(path):
    with files.replaced_folder(path) as beside:
        (beside / "b.txt").write_bytes(b"new")


def _recover(path):
    run = RunFolder(path)
    path.mkdir()
    run.previous_path.write_bytes(b"checkpoint")
    run.recover_last()


WRITERS = {
    "file": lambda path: write_atomically(path, lambda file: file.write(b"new")),
    "file that is kept": lambda path: write_atomically(path, lambda f: f.write(b"new"), path.with_name("b")),
    "folder": _write_folder,
    "checkpoint": _recover,
}


@pytest.mark.parametrize("writer", WRITERS)
def test_a_program_that_holds_a_file_for_a_moment_is_waited_for(tmp_path, monkeypatch, writer):
    Scanner(monkeypatch, times=2)
    WRITERS[writer](tmp_path / "a")
    assert (tmp_path / "a").exists()


@pytest.mark.parametrize("writer", WRITERS)
def test_a_program_that_keeps_a_file_open_is_to_be_closed(tmp_path, monkeypatch, writer):
    monkeypatch.setattr(files, "_PATIENCE", 0.1)
    Scanner(monkeypatch, times=10**6)
    with pytest.raises(UserError, match=r"cannot replace .*Access is denied.*close the program that has it"):
        WRITERS[writer](tmp_path / "a")


@pytest.mark.skipif(os.name == "nt", reason="Windows says that it is not allowed")
def test_a_folder_in_the_place_of_a_file_is_named(tmp_path):
    (tmp_path / "a.txt").mkdir()
    with pytest.raises(UserError, match=r"a\.txt: Is a directory\. .* there is a folder of that name"):
        write_atomically(tmp_path / "a.txt", lambda file: file.write(b"new"))
    assert listing(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("error", [ValueError("a bug"), KeyboardInterrupt(), SystemExit(1)])
def test_any_other_failure_passes_through(tmp_path, error):
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")

    def fail(file):
        file.write(b"half")
        raise error

    with pytest.raises(type(error)):
        write_atomically(path, fail)
    assert path.read_bytes() == b"old"
    assert listing(tmp_path) == ["a.txt"]


def test_a_folder_that_is_missing_or_a_file(tmp_path):
    (tmp_path / "file").write_bytes(b"old")
    for path in (tmp_path / "nowhere" / "a.txt", tmp_path / "file" / "a.txt"):
        with pytest.raises(UserError, match="cannot write"):
            write_atomically(path, lambda file: file.write(b"new"))
    assert listing(tmp_path) == ["file"]


def test_a_file_gets_the_permissions_of_any_new_file(tmp_path):
    (tmp_path / "usual").write_bytes(b"")
    write_atomically(tmp_path / "a.txt", lambda file: file.write(b"new"))
    assert (tmp_path / "a.txt").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_two_writers_of_the_same_path_do_not_disturb_one_another(tmp_path):
    """One writes all of its file while the other is in the middle of its own."""
    path = tmp_path / "a.txt"

    def slowly(file):
        file.write(b"first ")
        write_atomically(path, lambda other: other.write(b"another one"))
        assert path.read_bytes() == b"another one"
        file.write(b"and last")

    write_atomically(path, slowly)
    assert path.read_bytes() == b"first and last"
    assert listing(tmp_path) == ["a.txt"]


def test_a_writer_that_fails_leaves_the_file_of_another_alone(tmp_path):
    path = tmp_path / "a.txt"

    def write_while_another_fails(file):
        file.write(b"first ")
        with pytest.raises(ZeroDivisionError):
            write_atomically(path, lambda other: 1 / 0)
        file.write(b"and last")

    write_atomically(path, write_while_another_fails)
    assert path.read_bytes() == b"first and last"
    assert listing(tmp_path) == ["a.txt"]


def test_the_folder_is_flushed_after_the_file_is_in_place(tmp_path, monkeypatch):
    flushed, fsync = [], os.fsync

    def watched(descriptor):
        is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        flushed.append(("folder" if is_folder else "file", (tmp_path / "a.txt").exists()))
        fsync(descriptor)

    monkeypatch.setattr(files.os, "fsync", watched)
    write_atomically(tmp_path / "a.txt", lambda file: file.write(b"new"))
    assert flushed == [("file", False)] + ([] if os.name == "nt" else [("folder", True)])


def test_a_folder_that_cannot_be_flushed_is_not_an_error(tmp_path, monkeypatch):
    fsync = os.fsync

    def unsupported(descriptor):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "Invalid argument")
        fsync(descriptor)

    monkeypatch.setattr(files.os, "fsync", unsupported)
    write_atomically(tmp_path / "a.txt", lambda file: file.write(b"new"))
    assert (tmp_path / "a.txt").read_bytes() == b"new"


WRITER = """
import sys
from pathlib import Path
from tinyvit.support.files.atomic import write_atomically
from tinyvit.training.run_folder import RunFolder

def half(file):
    file.write(b"half")
    file.flush()
    print("writing", flush=True)
    sys.stdin.readline()
    file.write(b" and half")

write_atomically(Path("a.txt"), half)
"""


@pytest.fixture
def writer(tmp_path):
    """A separate process, halfway through writing a.txt, which continues when it receives a line."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "writing\n"
    yield process
    process.kill()
    process.communicate()


@needs_locks
def test_what_a_killed_process_left_is_cleared_away(tmp_path, writer):
    assert len(listing(tmp_path)) == 1
    writer.kill()
    writer.wait()
    write_atomically(tmp_path / "b.txt", lambda file: file.write(b"another path"))
    assert len(listing(tmp_path)) == 2
    write_atomically(tmp_path / "a.txt", lambda file: file.write(b"new"))
    assert listing(tmp_path) == ["a.txt", "b.txt"]


@pytest.mark.skipif(os.name == "nt", reason="Windows lets few users make links")
def test_a_link_in_place_of_the_temporary_file_is_not_followed(tmp_path, monkeypatch):
    monkeypatch.setattr("secrets.token_hex", lambda count: "0123abcd")
    (tmp_path / "mine").write_bytes(b"mine")
    (tmp_path / f".a.txt.{os.getpid()}-0123abcd.writing").symlink_to(tmp_path / "mine")
    write_atomically(tmp_path / "a.txt", lambda file: file.write(b"new"))
    assert (tmp_path / "mine").read_bytes() == b"mine"
    assert listing(tmp_path) == ["a.txt", "mine"]


def test_what_a_living_process_is_writing_is_left_alone(tmp_path, writer):
    write_atomically(tmp_path / "a.txt", lambda file: file.write(b"new"))
    assert (tmp_path / "a.txt").read_bytes() == b"new"
    assert len(listing(tmp_path)) == 2
    writer.communicate("go\n")
    assert writer.returncode == 0
    assert (tmp_path / "a.txt").read_bytes() == b"half and half"
    assert listing(tmp_path) == ["a.txt"]


@pytest.mark.parametrize(("age", "left"), [(3000, True), (4000, False)])
def test_without_locks_only_what_is_an_hour_old_is_cleared_away(tmp_path, monkeypatch, age, left):
    monkeypatch.setattr(locks, "fcntl", None)
    old = tmp_path / ".a.txt.123-0123abcd.writing"
    old.write_bytes(b"half")
    then = time.time() - age
    os.utime(old, (then, then))
    write_atomically(tmp_path / "a.txt", lambda file: file.write(b"new"))
    assert listing(tmp_path) == [old.name] * left + ["a.txt"]


def test_files_of_other_names_are_left_alone(tmp_path):
    others = [".a.txt.writing", ".b.txt.123-0123abcd.writing", "a.txt.123-0123abcd.writing"]
    for name in others:
        (tmp_path / name).write_bytes(b"not ours")
        os.utime(tmp_path / name, (0, 0))
    write_atomically(tmp_path / "a.txt", lambda file: file.write(b"new"))
    assert listing(tmp_path) == sorted([*others, "a.txt"])


def test_a_file_cleared_away_before_it_was_locked_is_made_again(tmp_path, monkeypatch):
    """The moment between making the file and locking it, in which another process takes it for abandoned."""
    lock, cleared = locks.lock, []

    def late(descriptor):
        if not cleared:
            cleared.extend(tmp_path.iterdir())
            cleared[0].unlink()
        return lock(descriptor)

    monkeypatch.setattr(files, "lock", late)
    write_atomically(tmp_path / "a.txt", lambda file: file.write(b"new"))
    assert cleared and listing(tmp_path) == ["a.txt"]
    assert (tmp_path / "a.txt").read_bytes() == b"new"
