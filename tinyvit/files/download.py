"""Downloading a file: a partial download is resumed, and the file is checked, then moved into place."""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import os
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from tinyvit.errors import UserError
from tinyvit.files.atomic import flush_folder
from tinyvit.files.locks import Taken, leads_to, lock
from tinyvit.files.temporary import clear_abandoned, temporary_path

Report = Callable[[int, int | None], None]  # bytes so far, and in total if known

TIMEOUT = 30  # seconds without a single byte
CHUNK = 1 << 18  # bytes between reports
PATIENCE = 4 * TIMEOUT  # seconds without a single byte from another process that downloads the same file
MOST = 8 << 30  # bytes of a file whose size is not known
POLL = 0.5  # seconds between checks on that process
REDOWNLOAD = "Delete it and run the command again to download it, or point --data-dir at a complete copy."
OTHERWISE = (
    "Download it by other means and point --data-dir at its folder. train, finetune, pretrain and fewshot "
    "also take another address, with --data-url."
)


def download(
    url: str,
    target: Path,
    size: int | None = None,
    checksum: str | None = None,
    report: Report | None = None,
    otherwise: str = OTHERWISE,
) -> None:
    """Download url into the file target, whose folder is created if necessary.

    The bytes are collected in a file with '.part' appended to target's name, and a partial download is
    resumed if the server supports that. No more is read than the expected size in bytes or, if that is not
    known, MOST. At the end the size and the checksum ('sha256:...' or 'md5:...' in hexadecimal) are verified,
    and the file is moved into place. report(done, total) is called at intervals; total is None if the server
    does not state it. If another process is already downloading the same file, this one waits for that
    download and uses it.

    Raises UserError if the address is not one of http or https, if the network fails (the part is kept for
    the next attempt), if the content is not as expected (the part is deleted), or if the other process makes
    no progress. otherwise is the last sentence of the message, which says how else to get the file.
    """
    try:
        _check_address(url)
        target.parent.mkdir(parents=True, exist_ok=True)
        with _part_of(target, size, report) as part:
            if part is None:
                return
            if size is None or _size(part) != size:
                _fetch(url, part, size, report)
            _check(url, part, size, checksum, otherwise)
            os.replace(part, target)
            flush_folder(target.parent)
    except (UserError, BrokenPipeError):  # the latter: report has nobody to tell any more
        raise
    except (OSError, http.client.HTTPException, ValueError, OverflowError) as error:
        # OSError covers URLError and time-outs; the last two are what a malformed address or port gives
        raise UserError(f"cannot download {url}: {_reason(error)}. {otherwise}") from error


@contextmanager
def _part_of(target: Path, size: int | None, report: Report | None) -> Iterator[Path | None]:
    """The file to collect the bytes in, locked; None if another process has completed target meanwhile."""
    part, existed = target.with_name(target.name + ".part"), target.exists()
    file = _open_locked(part, size, report)
    if file is None:
        with _part_without_lock(target, part) as own:
            yield own
        return
    with file:
        try:
            yield None if target.exists() and not existed else part
        finally:
            if leads_to(part, file.fileno()) and _size(part) == 0:
                part.unlink()


def _open_locked(part: Path, size: int | None, report: Report | None) -> BinaryIO | None:
    """The part, opened and locked once no other process is using it; None where locks are not supported."""
    seen, since, replaced = None, 0.0, 0
    while replaced < 10:  # on some file systems a file never looks the same twice: treat as without locks
        file = open(part, "ab", opener=_no_link)  # noqa: SIM115 - the caller closes it
        try:
            if not lock(file.fileno()):
                break
            if leads_to(part, file.fileno()):
                return file
            replaced += 1  # another process has just completed or deleted the part
        except Taken:
            done = _size(part)
            if done != seen:
                seen, since = done, time.monotonic()
            elif time.monotonic() - since > PATIENCE:
                raise TimeoutError(
                    f"another process is downloading it, but has made no progress for {PATIENCE} seconds; "
                    "stop that process and run again"
                ) from None
            if report:
                report(done, size)
            time.sleep(POLL)
        file.close()
    file.close()
    return None


@contextmanager
def _part_without_lock(target: Path, part: Path) -> Iterator[Path]:
    """Where locks are not supported: a file for this process alone, with what an earlier attempt left."""
    clear_abandoned(target, "part")
    own = temporary_path(target, "part")
    with contextlib.suppress(OSError):  # another process took it first
        os.replace(part, own)
    try:
        yield own
    finally:
        with contextlib.suppress(OSError):  # already moved into place, or deleted because it was wrong
            os.replace(own, part)


def _check_address(url: str) -> None:
    """Raise ValueError for anything but http and https, such as a file of this computer that never ends."""
    if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
        raise ValueError("expected an address that begins with https:// or http://")


def _fetch(url: str, part: Path, size: int | None, report: Report | None) -> None:
    """Complete the part, or read one byte too many. Raises OSError if the connection fails or is cut."""
    try:
        response = _open(url, start=_size(part))
    except urllib.error.HTTPError as error:
        if error.code != 416:  # 416: the part is already complete, or belongs to another file
            raise
        if error.headers.get("Content-Range") == f"bytes */{_size(part)}":
            return
        os.truncate(part, 0)  # not deleted, because it is locked
        response = _open(url, start=0)
    with response:
        resumed = response.status == 206  # otherwise the server sends the file from the beginning
        done = _size(part) if resumed else 0
        length = response.headers.get("Content-Length")
        total = done + int(length) if length else None
        most = MOST if size is None else size
        with open(part, "ab" if resumed else "wb", opener=_no_link) as file:
            while done <= most and (chunk := response.read(min(CHUNK, most + 1 - done))):
                file.write(chunk)
                done += len(chunk)
                if report:
                    report(done, total)
            file.flush()
            os.fsync(file.fileno())
    if size is None and done > MOST:
        os.truncate(part, 0)
        raise OSError(f"it does not end, even after {MOST:,} bytes")
    if total is not None and done < min(total, most):
        raise OSError(
            f"the connection was lost after {done:,} of {total:,} bytes; run again to continue from there"
        )


def _no_link(path: str, flags: int) -> int:
    """An opener for files that are no symbolic links: somebody else may have put one there."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)


def _open(url: str, start: int) -> http.client.HTTPResponse:
    headers = {"User-Agent": "tinyvit"}
    if start:
        headers["Range"] = f"bytes={start}-"
    response = urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=TIMEOUT)
    _check_address(response.url)  # to which the server may have sent us
    return response


def _check(url: str, part: Path, size: int | None, checksum: str | None, otherwise: str) -> None:
    """Raise UserError and delete the part if its size or checksum is not as expected."""
    if size is not None and _size(part) != size:
        found = f"more than {size:,} bytes" if _size(part) > size else f"{_size(part):,} bytes"
        wrong = f"{found}, expected {size:,}"
    elif checksum is not None and (found := _checksum(part, checksum.split(":")[0])) != checksum:
        wrong = f"a file with {found}, expected {checksum}"
    else:
        return
    part.unlink()
    raise UserError(f"{url} gave {wrong}: it is a different file, or was damaged in transit. {otherwise}")


def _checksum(path: Path, algorithm: str) -> str:
    digest = hashlib.new(algorithm, usedforsecurity=False)
    with open(path, "rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return f"{algorithm}:{digest.hexdigest()}"


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # not there yet, or just moved into place by another process
        return 0


def _reason(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"the server answered {error.code} {error.reason}"
    cause = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(cause, OSError) and cause.strerror:
        return ": ".join(str(part) for part in (cause.filename, cause.strerror) if part)
    return str(cause)
