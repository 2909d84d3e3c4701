"""Downloading a file from the first source that is fast enough: checked, then moved into place.

A source that is slow, silent or wrong is left for the next. What has arrived is kept, and continued from
wherever the same file can be had.
"""

import contextlib
import hashlib
import http.client
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from tinyvit.errors import UserError
from tinyvit.files.atomic import clear_abandoned, flush_folder, move, temporary_path
from tinyvit.files.fetching import (
    CHUNK,
    TIMEOUT,
    Report,
    TooSlow,
    check_address,
    fetch,
    file_size,
    no_link,
    reason_of,
)
from tinyvit.files.locks import Taken, leads_to, lock

SLOW = 300_000  # bytes a second: a source that sends less is left, if there is another
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

    Addresses are tried in turn, each of them for as long as it sends SLOW bytes a second. If none does, the
    fastest is returned to. The bytes are collected in a file with '.part' appended to target's name, which is
    continued by the next address or the next attempt. No more is read than the expected size in bytes or, if
    that is not known, fetching.MOST. At the end the size and the checksum ('sha256:...' or 'md5:...' in
    hexadecimal) are verified, and the file is moved into place. report(done, total) is called at intervals;
    total is None if nobody states it. If another process is already downloading the same file, this one waits
    for that download and uses it.

    Raises UserError if no address is one of http or https, answers, and gives the right file: it says of each
    what went wrong; or if the other process makes no progress. otherwise is the last sentence of the message,
    which says how else to get the file.
    """
    urls = [urls] if isinstance(urls, str) else list(urls)
    try:
        for url in urls:
            check_address(url)
        target.parent.mkdir(parents=True, exist_ok=True)
        with _part_of(target, size, report) as part:
            if part is None:
                return
            if failures := _from_any(urls, part, size, checksum, report):
                raise _failed(target, part, failures, otherwise)
            move(part, target)
            flush_folder(target.parent)
    except (UserError, BrokenPipeError):  # the latter: report has nobody to tell any more
        raise
    except (OSError, ValueError) as error:
        raise UserError(f"cannot download {urls[0]}: {reason_of(error)}. {otherwise}") from None


def _from_any(
    urls: list[str], part: Path, size: int | None, checksum: str | None, report: Report | None
) -> dict[str, str]:
    """Complete the part from one of the addresses; otherwise returns why each of them has failed."""
    failures: dict[str, str] = {}
    speeds: dict[str, float] = {}
    trusts = len(urls) > 1  # a file that ends up wrong is blamed on its last source, the first time

    def completed(url: str, least: float) -> bool:
        nonlocal trusts
        try:
            _fetch_and_check(url, part, size, checksum, report, least, trusts)
            return True
        except BrokenPipeError:
            raise
        except _FAILURES as error:
            failures[url] = reason_of(error)
            speeds[url] = error.rate if isinstance(error, TooSlow) else 0.0
            trusts = trusts and not isinstance(error, _WrongFile)
            return False

    if len(urls) > 1 and any(completed(url, SLOW) for url in urls):
        return {}
    if any(completed(url, 0.0) for url in sorted(urls, key=lambda url: -speeds.get(url, 0.0))):
        return {}
    return failures


def _fetch_and_check(
    url: str,
    part: Path,
    size: int | None,
    checksum: str | None,
    report: Report | None,
    least: float,
    trusts: bool,
) -> None:
    """Complete the part from this address. Raises _WrongFile if what then is there is not the file.

    If it is not, what was there before is either trusted, and kept for another source, or replaced as well.
    """
    before = file_size(part)
    continues = size is None or before < size
    if continues:
        fetch(url, part, size, report, least)
    if _wrong(part, size, checksum) and before and not (trusts and continues):
        os.truncate(part, 0)
        before = 0
        fetch(url, part, size, report, least)
    if wrong := _wrong(part, size, checksum):
        os.truncate(part, before)
        raise _WrongFile(f"it gave {wrong}: it is a different file, or was damaged in transit")


class _WrongFile(OSError):  # noqa: N818 - a reason to go elsewhere, not an error
    pass


def _failed(target: Path, part: Path, failures: dict[str, str], otherwise: str) -> UserError:
    kept = "What has arrived is kept: the same command continues from there. " if file_size(part) else ""
    if len(failures) == 1:
        ((url, reason),) = failures.items()
        return UserError(f"cannot download {url}: {reason}. {kept}{otherwise}")
    return UserError(
        f"cannot download {target.name}: none of its sources gave it.",
        *(f"  {url}: {reason}" for url, reason in failures.items()),
        kept + otherwise,
    )


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
            if leads_to(part, file.fileno()) and file_size(part) == 0:
                part.unlink()


def _open_locked(part: Path, size: int | None, report: Report | None) -> BinaryIO | None:
    """The part, opened and locked once no other process is using it; None where locks are not supported."""
    seen, since, replaced = None, 0.0, 0
    while replaced < 10:  # on some file systems a file never looks the same twice: treat as without locks
        file = open(part, "ab", opener=no_link)  # noqa: SIM115 - the caller closes it
        try:
            if not lock(file.fileno()):
                break
            if leads_to(part, file.fileno()):
                return file
            replaced += 1  # another process has just completed or deleted the part
        except Taken:
            done = file_size(part)
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


def _wrong(part: Path, size: int | None, checksum: str | None) -> str:
    """What differs from the expected size or checksum; nothing if it is the file."""
    found = file_size(part)
    if size is not None and found != size:
        return f"{f'more than {size:,}' if found > size else f'{found:,}'} bytes, expected {size:,}"
    if checksum is not None and (sum_ := _checksum(part, checksum.split(":")[0])) != checksum:
        return f"a file with {sum_}, expected {checksum}"
    return ""


def _checksum(path: Path, algorithm: str) -> str:
    digest = hashlib.new(algorithm, usedforsecurity=False)
    with open(path, "rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return f"{algorithm}:{digest.hexdigest()}"
