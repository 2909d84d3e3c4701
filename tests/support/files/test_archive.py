import errno
import gzip
import io
import os
import shutil
import tarfile
import time

import pytest

from tinyvit.support.errors import UserError
from tinyvit.support.files import archive as archive_module
from tinyvit.support.files import locks
from tinyvit.support.files.archive import unpack

CONTENT = {"set/one.bin": bytes(range(256)) * 40, "set/two.bin": b"second" * 1000}


def make_archive(path, members):
    """A .tar.gz of regular files (name -> bytes) and of anything else (name -> TarInfo)."""
    with tarfile.open(path, "w:gz") as archive:
        for name, content in members.items():
            if isinstance(content, tarfile.TarInfo):
                archive.addfile(content)
            else:
                info = tarfile.TarInfo(name)
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
    return path


def special(name, kind, target=""):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def everything_below(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_wanted_files_are_unpacked_and_others_are_not(tmp_path):
    archive = make_archive(tmp_path / "a.tar.gz", CONTENT | {"set/readme.html": b"hello"})
    unpack(archive, CONTENT.keys(), tmp_path / "out")
    assert everything_below(tmp_path / "out") == ["set", "set/one.bin", "set/two.bin"]
    for name, content in CONTENT.items():
        assert (tmp_path / "out" / name).read_bytes() == content


def test_an_existing_file_is_replaced(tmp_path):
    (tmp_path / "out/set").mkdir(parents=True)
    (tmp_path / "out/set/one.bin").write_bytes(b"half of i")
    unpack(make_archive(tmp_path / "a.tar.gz", CONTENT), CONTENT.keys(), tmp_path / "out")
    assert (tmp_path / "out/set/one.bin").read_bytes() == CONTENT["set/one.bin"]


@pytest.mark.parametrize("name", ["../outside.bin", "set/../../outside.bin", "/tmp/outside.bin"])
def test_a_path_that_leads_out_of_the_folder_is_refused(tmp_path, name):
    archive = make_archive(tmp_path / "a.tar.gz", CONTENT | {name: b"gotcha"})
    with pytest.raises(UserError, match=r"outside\.bin.*nothing was unpacked"):
        unpack(archive, CONTENT.keys(), tmp_path / "out")
    assert everything_below(tmp_path / "out") == []


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE])
def test_anything_but_a_regular_file_in_a_wanted_place_is_refused(tmp_path, kind):
    archive = make_archive(
        tmp_path / "a.tar.gz", {**CONTENT, "set/two.bin": special("set/two.bin", kind, "/etc/passwd")}
    )
    with pytest.raises(UserError, match=r"set/two\.bin.*expected a regular file"):
        unpack(archive, CONTENT.keys(), tmp_path / "out")
    assert everything_below(tmp_path / "out") == []


def test_a_link_in_place_of_a_folder_does_not_lead_out(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    archive = make_archive(
        tmp_path / "a.tar.gz",
        {"set": special("set", tarfile.SYMTYPE, str(tmp_path / "elsewhere")), **CONTENT},
    )
    unpack(archive, CONTENT.keys(), tmp_path / "out")
    assert everything_below(tmp_path / "elsewhere") == []
    assert not (tmp_path / "out/set").is_symlink()


@pytest.mark.parametrize("kept", [0.0, 0.3, 0.9, 0.999])
def test_a_truncated_archive_leaves_nothing_behind(tmp_path, kept):
    archive = make_archive(tmp_path / "a.tar.gz", CONTENT)
    whole = archive.read_bytes()
    archive.write_bytes(whole[: int(kept * len(whole))])
    with pytest.raises(UserError, match=r"a\.tar\.gz.*truncated or damaged"):
        unpack(archive, CONTENT.keys(), tmp_path / "out")
    assert everything_below(tmp_path / "out") == []


def test_a_single_wrong_byte_is_noticed(tmp_path):
    """Stored without compression, so that only gzip's checksum can tell."""
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as archive:
        info = tarfile.TarInfo("set/one.bin")
        info.size = 5000
        archive.addfile(info, io.BytesIO(bytes(5000)))
    packed = bytearray(gzip.compress(tar.getvalue(), compresslevel=0))
    packed[3000] ^= 1
    (tmp_path / "a.tar.gz").write_bytes(packed)
    with pytest.raises(UserError, match="CRC"):
        unpack(tmp_path / "a.tar.gz", ["set/one.bin"], tmp_path / "out")


def test_a_web_page_instead_of_an_archive_is_one_clear_error(tmp_path):
    (tmp_path / "a.tar.gz").write_text("<html>Too many requests</html>")
    with pytest.raises(UserError, match="cannot be unpacked"):
        unpack(tmp_path / "a.tar.gz", CONTENT.keys(), tmp_path / "out")


def test_two_at_once_unpack_the_same_archive(tmp_path, monkeypatch):
    """The second starts, and finishes, while the first has unpacked one of two files."""
    packed = make_archive(tmp_path / "a.tar.gz", CONTENT)
    copy, inner = shutil.copyfileobj, []

    def copy_and_unpack_again(source, target):
        copy(source, target)
        if not inner:
            inner.append("begun")
            unpack(packed, CONTENT.keys(), tmp_path / "out")
            inner.append(everything_below(tmp_path / "out"))

    monkeypatch.setattr(shutil, "copyfileobj", copy_and_unpack_again)
    unpack(packed, CONTENT.keys(), tmp_path / "out")
    assert {"set", "set/one.bin", "set/two.bin"} <= set(inner[1])
    assert everything_below(tmp_path / "out") == ["set", "set/one.bin", "set/two.bin"]
    for name, content in CONTENT.items():
        assert (tmp_path / "out" / name).read_bytes() == content


@pytest.mark.skipif(locks.fcntl is None, reason="Windows has no locks of this kind")
def test_what_a_crash_left_is_cleared_away(tmp_path):
    left = tmp_path / "out" / ".a.tar.gz.123-0123abcd.unpacking"
    (left / "set").mkdir(parents=True)
    (left / "set" / "one.bin").write_bytes(b"half")
    unpack(make_archive(tmp_path / "a.tar.gz", CONTENT), CONTENT.keys(), tmp_path / "out")
    assert everything_below(tmp_path / "out") == ["set", "set/one.bin", "set/two.bin"]


@pytest.mark.parametrize(("age", "left"), [(3000, True), (4000, False)])
def test_without_locks_only_what_is_an_hour_old_is_cleared_away(tmp_path, monkeypatch, age, left):
    monkeypatch.setattr(locks, "fcntl", None)
    old = tmp_path / ".a.tar.gz.123-0123abcd.unpacking"
    old.mkdir()
    os.utime(old, (time.time() - age, time.time() - age))
    unpack(make_archive(tmp_path / "a.tar.gz", CONTENT), CONTENT.keys(), tmp_path)
    assert old.exists() == left
    assert (tmp_path / "set/one.bin").read_bytes() == CONTENT["set/one.bin"]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS])
def test_a_disk_that_refuses_is_named_and_nothing_is_left(tmp_path, monkeypatch, number):
    archive = make_archive(tmp_path / "a.tar.gz", CONTENT)

    def refuse(members, member, target):
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(b"half")
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(archive_module, "_write", refuse)
    with pytest.raises(UserError, match=rf"cannot unpack .*a\.tar\.gz into .*out: {os.strerror(number)}\."):
        unpack(archive, CONTENT.keys(), tmp_path / "out")
    assert everything_below(tmp_path / "out") == []


def test_a_missing_file_is_named(tmp_path):
    archive = make_archive(tmp_path / "a.tar.gz", {"set/one.bin": b"1"})
    with pytest.raises(UserError, match=r"does not contain set/two\.bin"):
        unpack(archive, CONTENT.keys(), tmp_path / "out")
    assert everything_below(tmp_path / "out") == []


def test_a_long_name_that_becomes_gigabytes_is_refused(tmp_path):
    header = special("././@LongLink", tarfile.GNUTYPE_LONGNAME)
    header.size = 50_000_000
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz", format=tarfile.GNU_FORMAT) as archive:
        archive.addfile(header, io.BytesIO(b"x" * header.size))
    with pytest.raises(UserError, match="far larger than expected"):
        unpack(tmp_path / "a.tar.gz", CONTENT.keys(), tmp_path / "out")
    assert everything_below(tmp_path / "out") == []


def test_a_file_with_holes_of_a_terabyte_is_refused(tmp_path):
    hole = special("set/one.bin", tarfile.GNUTYPE_SPARSE)
    block = bytearray(hole.tobuf(tarfile.GNU_FORMAT))
    block[483:495] = b"77777777777\0"  # its size with the holes
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    with gzip.open(tmp_path / "a.tar.gz", "wb") as file:
        file.write(bytes(block) + bytes(1024))
    with pytest.raises(UserError, match=r"a\.tar\.gz"):
        unpack(tmp_path / "a.tar.gz", CONTENT.keys(), tmp_path / "out")
    assert everything_below(tmp_path / "out") == []


def test_an_archive_of_endless_members_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(archive_module, "MOST_MEMBERS", 3)
    archive = make_archive(tmp_path / "a.tar.gz", {f"{i}": b"" for i in range(4)} | CONTENT)
    with pytest.raises(UserError, match="far larger than expected"):
        unpack(archive, CONTENT.keys(), tmp_path / "out")


def test_names_nested_beyond_reason_are_refused(tmp_path):
    """Each long name says that another follows; tarfile calls itself for each."""
    header = special("././@LongLink", tarfile.GNUTYPE_LONGNAME)
    header.size = 1
    with gzip.open(tmp_path / "a.tar.gz", "wb") as file:
        file.write((header.tobuf(tarfile.GNU_FORMAT) + bytes(512)) * 2000)
    with pytest.raises(UserError, match=r"a\.tar\.gz"):
        unpack(tmp_path / "a.tar.gz", CONTENT.keys(), tmp_path / "out")
