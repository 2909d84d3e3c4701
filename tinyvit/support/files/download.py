"""Downloading a file from its sources, in order: continued where it broke off, checked, moved into place.

A source that is slow, silent or wrong is left for the next. What has arrived is kept, and continued from
wherever the same file can be had.
"""

import contextlib
import hashlib
import http.client
import os
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import BinaryIO

from tinyvit.support.errors import UserError
from tinyvit.support.files.atomic import clear_abandoned, flush_folder, move, temporary_path
from tinyvit.support.files.locks import Taken, leads_to, lock

Report = Callable[[int, int | None], None]  # bytes so far, and in total if known

TIMEOUT = 30  # seconds without a single byte
WINDOW = 10  # seconds over which the speed of a source is judged, if there is another
SLOW = 300_000  # bytes a second: a source that sends less is left, if there is another
CHUNK = 1 << 18  # bytes between reports, at most
MOST = 8 << 30  # bytes of a file whose size is not known
PATIENCE = 4 * TIMEOUT  # seconds without a single byte from another process that downloads the same file
POLL = 0.5  # seconds between checks on that process
REDOWNLOAD = "Delete it and run the command again to download it, or point --data-dir at a complete copy."
OTHERWISE = (
    "Download it by other means and point --data-dir at its folder. train, finetune, pretrain and fewshot "
    "also take another address, with --data-url."
)
# URLError and time-outs are OSErrors; the last two are what a malformed address or port gives.
_FAILURES = (OSError, http.client.HTTPException, ValueError, OverflowError)


def download(
    urls: str | Sequence[str],
    target: Path,
    size: int | None = None,
    checksum: str | None = None,
    report: Report | None = None,
    otherwise: str = OTHERWISE,
) -> None:
    """Download a file into target, whose folder is created if necessary, from one of its addresses.

    Addresses are tried in turn, each for as long as it sends SLOW bytes a second; if none does, they are
    tried again, however slow. The bytes are collected in a file with '.part' appended to target's name, which
    is continued by the next address or the next attempt. No more is read than the expected size in bytes or,
    if that is not known, MOST. At the end the size and the checksum ('sha256:...' or 'md5:...' in
    hexadecimal) are verified, and the file is moved into place. report(done, total) is called at intervals;
    total is None if it is not known. If another process is already downloading the same file, this one waits
    for that download and uses it.

    Raises UserError if no address is one of http or https, answers, and gives the right file: it says of each
    what went wrong; or if the other process makes no progress. otherwise is the last sentence of the message,
    which says how else to get the file.
    """
    urls, failures = [urls] if isinstance(urls, str) else list(urls), {}
    report = report or (lambda done, total: None)
    try:
        for url in urls:
            _check_address(url)
        target.parent.mkdir(parents=True, exist_ok=True)
        with _part_of(target, size, report) as part:
            if part is None:
                return
            for least, url in product((SLOW, 0) if len(urls) > 1 else (0,), urls):
                try:
                    _complete(part, url, size, checksum, report, least)
                    break
                except BrokenPipeError:  # report's reader has gone
                    raise
                except _FAILURES as error:
                    failures[url] = reason_of(error)
            else:
                raise _failed(target, part, failures, otherwise)
            move(part, target)
            flush_folder(target.parent)
    except (UserError, BrokenPipeError):
        raise
    except (OSError, ValueError) as error:
        raise UserError(f"cannot download {urls[0]}: {reason_of(error)}. {otherwise}") from None


def _complete(
    part: Path, url: str, size: int | None, checksum: str | None, report: Report, least: float
) -> None:
    """Complete the part from this address. Raises OSError if what then is there is not the file."""
    before = _size(part)
    if size is None or before < size:
        _fetch(part, url, size, report, least)
    wrong = _wrong(part, size, checksum)
    if wrong and before:  # perhaps what was there before is of another file
        os.truncate(part, 0)  # not deleted, because it is locked
        _fetch(part, url, size, report, least)
        wrong = _wrong(part, size, checksum)
    if wrong:
        os.truncate(part, 0)
        raise OSError(f"it gave {wrong}: it is a different file, or was damaged in transit")


def _fetch(part: Path, url: str, size: int | None, report: Report, least: float) -> None:
    """Append the rest of the file to the part, or one byte too many; all of it if that cannot be continued.

    Raises OSError if the connection fails or is cut, if the answer is not the file, or if the source sends
    less than `least` bytes a second over WINDOW seconds, or cannot continue, so that another source can.
    """
    response, start = _opened(url, _size(part), size, least)
    with response:
        length, most = response.headers.get("Content-Length"), MOST if size is None else size
        if size is not None and length != str(size - start):
            if response.headers.get_content_type() == "text/html":
                raise OSError("it sent a web page instead of the file")
            if length and length.isdecimal() and not start:
                raise OSError(f"it has {int(length):,} bytes, expected {size:,}: it is a different file")
        total = start + int(length) if length else size
        done = before = start
        since = time.monotonic()
        report(done, total)
        with open(part, "ab" if start else "wb", opener=_no_link) as file:
            while done <= most and (chunk := response.read1(min(CHUNK, most + 1 - done))):
                file.write(chunk)
                file.flush()  # another process may be watching, or continue should this one be killed
                done += len(chunk)
                report(done, total)
                if (seconds := time.monotonic() - since) >= WINDOW:
                    if (rate := (done - before) / seconds) < least and done < most:
                        raise OSError(f"it sends {rate / 1e3:,.0f} kB/s")
                    since, before = since + seconds, done
            os.fsync(file.fileno())
    if size is None and done > MOST:
        os.truncate(part, 0)
        raise OSError(f"it does not end, even after {MOST:,} bytes")
    if length and total is not None and done < min(total, most):
        raise OSError(f"the connection was lost after {done:,} of {total:,} bytes")


def _opened(url: str, start: int, size: int | None, least: float) -> tuple[http.client.HTTPResponse, int]:
    """The server's answer, and the byte that it begins with: `start` or, if it cannot continue there, 0."""
    if start:
        try:
            response = _request(url, least, Range=f"bytes={start}-")
            sent, _, whole = response.headers.get("Content-Range", "").partition("/")
            is_rest = sent.startswith(f"bytes {start}-") and (size is None or whole in ("*", str(size)))
            if response.status == 206 and is_rest:
                return response, start
            response.close()
            if least:
                raise OSError(f"it cannot continue after {start:,} bytes")
        except urllib.error.HTTPError as error:
            if error.code != 416:  # 416: the part is already complete, or belongs to another file
                raise
    return _request(url, least), 0


def _request(url: str, least: float, **headers: str) -> http.client.HTTPResponse:
    request = urllib.request.Request(url, headers={"User-Agent": "tinyvit", **headers})
    response = urllib.request.urlopen(request, timeout=WINDOW if least else TIMEOUT)
    _check_address(response.url)  # to which the server may have sent us
    return response


def _check_address(url: str) -> None:
    """Raise ValueError for anything but http and https, such as a file of this computer that never ends."""
    if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
        raise ValueError("expected an address that begins with https:// or http://")


def _wrong(part: Path, size: int | None, checksum: str | None) -> str:
    """The difference from the expected size or checksum; empty if it is the file."""
    actual = _size(part)
    if size is not None and actual != size:
        return f"{f'more than {size:,}' if actual > size else f'{actual:,}'} bytes, expected {size:,}"
    if checksum is not None:
        algorithm = checksum.partition(":")[0]
        digest = hashlib.new(algorithm, usedforsecurity=False)
        with open(part, "rb") as file:
            while chunk := file.read(CHUNK):
                digest.update(chunk)
        if (sum_ := f"{algorithm}:{digest.hexdigest()}") != checksum:
            return f"a file with {sum_}, expected {checksum}"
    return ""


def reason_of(error: Exception) -> str:
    """The cause of a failed download, for people."""
    if isinstance(error, urllib.error.HTTPError):
        return f"the server answered {error.code} {error.reason}"
    cause = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(cause, TimeoutError) and not cause.filename:
        return "it does not answer"
    if isinstance(cause, OSError) and cause.strerror:
        return ": ".join(str(part) for part in (cause.filename, cause.strerror) if part)
    return str(cause)


def _failed(target: Path, part: Path, failures: dict[str, str], otherwise: str) -> UserError:
    kept = "What has arrived is kept: the same command continues from there. " if _size(part) else ""
    if len(failures) == 1:
        ((url, reason),) = failures.items()
        return UserError(f"cannot download {url}: {reason}. {kept}{otherwise}")
    return UserError(
        f"cannot download {target.name}: none of its sources gave it.",
        *(f"  {url}: {reason}" for url, reason in failures.items()),
        kept + otherwise,
    )


@contextlib.contextmanager
def _part_of(target: Path, size: int | None, report: Report) -> Iterator[Path | None]:
    """The file to collect the bytes in, for this process alone; None if another has completed target.

    Where locks are not supported, it has another name, and starts with what an earlier attempt left.
    """
    part, existed = target.with_name(target.name + ".part"), target.exists()
    if file := _open_locked(part, size, report):
        with file:
            try:
                yield None if target.exists() and not existed else part
            finally:
                if leads_to(part, file.fileno()) and _size(part) == 0:
                    part.unlink()
        return
    clear_abandoned(target, "part")
    own = temporary_path(target, "part")
    with contextlib.suppress(OSError):  # another process took it first
        os.replace(part, own)
    try:
        yield own
    finally:
        with contextlib.suppress(OSError):  # already moved into place
            os.replace(own, part)


def _open_locked(part: Path, size: int | None, report: Report) -> BinaryIO | None:
    """The part, opened and locked once no other process is using it; None where locks are not supported."""
    seen, since, replaced = -1, 0.0, 0
    while replaced < 10:  # on some file systems a file never looks the same twice: treat as without locks
        file = open(part, "ab", opener=_no_link)  # noqa: SIM115 - the caller closes it
        try:
            if not lock(file.fileno()):
                break
            if leads_to(part, file.fileno()):
                return file
            replaced += 1  # another process has just completed or deleted the part
        except Taken:
            if (done := _size(part)) != seen:
                seen, since = done, time.monotonic()
            elif time.monotonic() - since > PATIENCE:
                raise UserError(
                    f"cannot download {part.stem}: another process is downloading it, but has made no "
                    f"progress for {PATIENCE} seconds; stop that process and run again."
                ) from None
            report(done, size)
            time.sleep(POLL)
        file.close()
    file.close()
    return None


def _no_link(path: str, flags: int) -> int:
    """An opener for files that are no symbolic links, which another user may have put there."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)


def _size(path: Path) -> int:
    """The bytes of a file; 0 if it is not there yet, or was just moved into place by another process."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
