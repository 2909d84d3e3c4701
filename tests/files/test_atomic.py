"""A file is written whole or not at all, and nothing is left beside it."""

import errno

import pytest

from tinyvit.errors import UserError
from tinyvit.files import atomic as files
from tinyvit.files.atomic import write_atomically


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
    with pytest.raises(UserError, match=r"cannot write .*a\.txt: No space left on device\. .* make room"):
        write_atomically(path, lambda file: file.write(b"new"))
    assert path.read_bytes() == b"old"
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


def test_what_a_crash_left_beside_is_cleared_away(tmp_path):
    (tmp_path / ".a.txt.writing").write_bytes(b"half of something long")
    write_atomically(tmp_path / "a.txt", lambda file: file.write(b"new"))
    assert listing(tmp_path) == ["a.txt"]
    assert (tmp_path / "a.txt").read_bytes() == b"new"
