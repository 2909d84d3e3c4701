"""A lock has one holder, ends when it is closed, and is not missed where the system has none."""

import os

import pytest

from tinyvit.support.files import locks
from tinyvit.support.files.locks import Claim, Taken, leads_to, lock, lock_folder

needs_locks = pytest.mark.skipif(locks.fcntl is None, reason="Windows has no locks of this kind")


@needs_locks
def test_a_file_is_locked_once_until_it_is_closed(tmp_path):
    with open(tmp_path / "a", "wb") as one, open(tmp_path / "a", "rb") as other:
        assert lock(one.fileno())
        with pytest.raises(Taken):
            lock(other.fileno())
        one.close()
        assert lock(other.fileno())


@needs_locks
def test_a_folder_is_locked_once_until_it_is_closed(tmp_path):
    one = lock_folder(tmp_path)
    with pytest.raises(Taken):
        lock_folder(tmp_path)
    os.close(one)
    os.close(lock_folder(tmp_path))
    assert not list(tmp_path.iterdir())


@needs_locks
def test_a_folder_deleted_and_made_again_before_it_was_locked_is_the_new_one(tmp_path, monkeypatch):
    path, plain, replaced = tmp_path / "run", locks.lock, []
    path.mkdir()

    def late(descriptor):
        if not replaced:
            replaced.append(path.rename(tmp_path / "old"))
            path.mkdir()
        return plain(descriptor)

    monkeypatch.setattr(locks, "lock", late)
    descriptor = lock_folder(path)
    assert replaced and leads_to(path, descriptor)
    os.close(descriptor)


@needs_locks
def test_what_is_not_a_folder_cannot_be_locked_as_one(tmp_path):
    (tmp_path / "file").write_text("text")
    with pytest.raises(NotADirectoryError):
        lock_folder(tmp_path / "file")
    with pytest.raises(FileNotFoundError):
        lock_folder(tmp_path / "nowhere")


def test_a_path_leads_to_what_was_opened_until_it_is_replaced_or_gone(tmp_path):
    with open(tmp_path / "a", "wb") as file:
        assert leads_to(tmp_path / "a", file.fileno())
        (tmp_path / "b").write_bytes(b"")
        assert not leads_to(tmp_path / "b", file.fileno())
        assert not leads_to(tmp_path / "c", file.fileno())


@needs_locks
@pytest.mark.parametrize("trouble", ["no locks", "unstable", "unreadable"])
def test_a_file_system_without_usable_locks_is_told_from_a_lock_that_is_taken(tmp_path, monkeypatch, trouble):
    def unsupported(*args):
        raise OSError(95, "Operation not supported")

    if trouble == "no locks":
        monkeypatch.setattr(locks.fcntl, "flock", unsupported)
    elif trouble == "unstable":
        monkeypatch.setattr(locks, "leads_to", lambda *args: False)
    else:
        monkeypatch.setattr(locks.os, "open", unsupported)
    assert lock_folder(tmp_path) is None


def test_a_system_without_locks(tmp_path, monkeypatch):
    monkeypatch.setattr(locks, "fcntl", None)
    assert lock_folder(tmp_path) is None
    with open(tmp_path / "a", "wb") as file:
        assert not lock(file.fileno())


class Windows:
    """The part of msvcrt that is used: a lock on a byte of a file has one holder until it is closed."""

    LK_NBLCK = 2

    def locking(self, descriptor, mode, count):
        assert (mode, count) == (self.LK_NBLCK, 1)
        if not lock_once(descriptor):
            raise PermissionError(13, "Permission denied")


def lock_once(descriptor):
    try:
        return lock(descriptor)
    except Taken:
        return False


@needs_locks
def test_on_windows_a_folder_is_reserved_by_a_file_in_it(tmp_path, monkeypatch):
    monkeypatch.setattr(locks, "msvcrt", Windows())
    first, second = Claim(tmp_path / "run"), Claim(tmp_path / "run")
    first.make()
    first.lock()
    with pytest.raises(Taken):
        second.lock()
    first.unlock()
    assert not list((tmp_path / "run").iterdir())
    second.lock()
    second.unlock()
    third = Claim(tmp_path / "other")
    third.make()
    third.lock()
    third.delete_what_was_made()
    assert not (tmp_path / "other").exists()
    assert locks.reserve_folder(tmp_path / "nowhere") is None
