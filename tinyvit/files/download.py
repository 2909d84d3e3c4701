"""Fetching one file over the network: resumed where it stopped, checked, then moved into place."""

from __future__ import annotations

import hashlib
import http.client
import os
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from tinyvit.errors import UserError

Report = Callable[[int, int | None], None]  # bytes so far, bytes in all if known

TIMEOUT = 30  # seconds without a single byte
CHUNK = 1 << 18  # bytes between two reports
ANEW = "Delete it and run again to download it anew, or point --data-dir at a complete copy."
OTHERWISE = (
    "Fetch it by other means and point --data-dir at its folder, or name another address with --data-url."
)


def download(
    url: str,
    target: Path,
    size: int | None = None,
    checksum: str | None = None,
    report: Report | None = None,
    otherwise: str = OTHERWISE,
) -> None:
    """Fetch url into the file target, whose folder is made if need be.

    The bytes are collected in target with '.part' added to its name. What a broken download left there is
    gone on with, if the server can. At the end the size in bytes and the checksum, 'sha256:...' or 'md5:...'
    in hexadecimal, are compared, and the file is moved into place. report(done, total) is called every now
    and then; total is None where the server does not tell.

    Raises UserError if the network fails (the part is kept for the next attempt) or the content is not as
    expected (the part is deleted); otherwise is the last sentence of its message: how else to come by the
    file.
    """
    part = target.with_name(target.name + ".part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if size is None or _size(part) != size:
            _fetch(url, part, report)
    except (OSError, http.client.HTTPException, ValueError) as error:
        # OSError covers URLError and time-outs; ValueError is urllib's word on an address that is none
        raise UserError(f"cannot download {url}: {_reason(error)}. {otherwise}") from error
    _check(url, part, size, checksum, otherwise)
    os.replace(part, target)


def _fetch(url: str, part: Path, report: Report | None) -> None:
    """Bring part up to the full length. Raises OSError if the connection fails or ends too early."""
    try:
        response = _open(url, start=_size(part))
    except urllib.error.HTTPError as error:
        if error.code != 416:  # 416: nothing lies beyond the part, which is complete, or not of this file
            raise
        if error.headers.get("Content-Range") == f"bytes */{_size(part)}":
            return
        part.unlink()
        response = _open(url, start=0)
    with response:
        resumed = response.status == 206  # any other status: the server sends the file from its beginning
        done = _size(part) if resumed else 0
        length = response.headers.get("Content-Length")
        total = done + int(length) if length else None
        with open(part, "ab" if resumed else "wb") as file:
            while chunk := response.read(CHUNK):
                file.write(chunk)
                done += len(chunk)
                if report:
                    report(done, total)
    if total is not None and done < total:
        raise OSError(
            f"the connection broke after {done:,} of {total:,} bytes; run again to go on from there"
        )


def _open(url: str, start: int) -> http.client.HTTPResponse:
    headers = {"User-Agent": "tinyvit"}
    if start:
        headers["Range"] = f"bytes={start}-"
    return urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=TIMEOUT)


def _check(url: str, part: Path, size: int | None, checksum: str | None, otherwise: str) -> None:
    """Raise UserError, and delete the part, if its size or checksum is not the one expected."""
    if size is not None and _size(part) != size:
        wrong = f"{_size(part):,} bytes, expected {size:,}"
    elif checksum is not None and (found := _checksum(part, checksum.split(":")[0])) != checksum:
        wrong = f"a file with {found}, expected {checksum}"
    else:
        return
    part.unlink()
    raise UserError(f"{url} gave {wrong}: it is another file, or was damaged on the way. {otherwise}")


def _checksum(path: Path, algorithm: str) -> str:
    digest = hashlib.new(algorithm, usedforsecurity=False)
    with open(path, "rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return f"{algorithm}:{digest.hexdigest()}"


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _reason(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"the server answered {error.code} {error.reason}"
    return str(error.reason if isinstance(error, urllib.error.URLError) else error)
