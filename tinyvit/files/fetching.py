"""Fetching a file from one address into a part, which is continued if something is in it already."""

import http.client
import os
import time
import urllib.error
import urllib.parse
import urllib.request
from collections import deque
from collections.abc import Callable
from pathlib import Path

Report = Callable[[int, int | None], None]  # bytes so far, and in total if known

TIMEOUT = 30  # seconds without a single byte
WINDOW = 10  # seconds over which the speed of a source is judged
CHUNK = 1 << 18  # bytes between reports, at most
MOST = 8 << 30  # bytes of a file whose size is not known

clock = time.monotonic


class TooSlow(OSError):  # noqa: N818 - a reason to go elsewhere, not an error
    """A source has sent less than was asked for; rate is what it sent, in bytes a second."""

    def __init__(self, rate: float):
        super().__init__(f"it sends {rate / 1e3:,.0f} kB/s")
        self.rate = rate


def fetch(url: str, part: Path, size: int | None, report: Report | None, least: float = 0.0) -> None:
    """Complete the part, or read one byte too many.

    What is there is continued if the server supports that, and replaced otherwise. With `least`, a speed in
    bytes a second, the source has to earn its place: TooSlow is raised if it sends less over WINDOW seconds,
    and OSError if it cannot continue, so that another source can. OSError also says that the connection
    failed or was cut, or that the answer is not the file.
    """
    opened = _opened(url, part, size, least)
    if opened is None:
        return
    response, done = opened
    with response:
        length = response.headers.get("Content-Length")
        total = done + int(length) if length else size
        most = MOST if size is None else size
        speed = Speed(done)
        if report:
            report(done, total)
        with open(part, "ab" if done else "wb", opener=no_link) as file:
            while done <= most and (chunk := response.read1(min(CHUNK, most + 1 - done))):
                file.write(chunk)
                file.flush()  # another process may be watching, or continue should this one be killed
                done += len(chunk)
                if report:
                    report(done, total)
                rate, seconds = speed.after(done)
                if rate < least and seconds >= WINDOW and done < most:
                    raise TooSlow(rate)
            os.fsync(file.fileno())
    if size is None and done > MOST:
        os.truncate(part, 0)
        raise OSError(f"it does not end, even after {MOST:,} bytes")
    if length and total is not None and done < min(total, most):
        raise OSError(f"the connection was lost after {done:,} of {total:,} bytes")


class Speed:
    """The speed of a download over its last WINDOW seconds; done is the number of bytes that are there."""

    def __init__(self, done: int, clock: Callable[[], float] = clock):
        self._clock = clock
        self._seen = deque([(clock(), done)])

    def after(self, done: int) -> tuple[float, float]:
        """Bytes a second, and the seconds over which they were counted: WINDOW or somewhat more, or fewer."""
        now = self._clock()
        if done < self._seen[-1][1]:  # another source has begun anew
            self._seen.clear()
        self._seen.append((now, done))
        while len(self._seen) > 2 and now - self._seen[1][0] >= WINDOW:
            self._seen.popleft()
        then, before = self._seen[0]
        return (done - before) / max(now - then, 1e-9), now - then


def _opened(
    url: str, part: Path, size: int | None, least: float
) -> tuple[http.client.HTTPResponse, int] | None:
    """The server's answer, and how many bytes of the part it continues; None if nothing is missing."""
    start = file_size(part)
    try:
        response = _open(url, start, least)
    except urllib.error.HTTPError as error:
        if error.code != 416:  # 416: the part is already complete, or belongs to another file
            raise
        if size is None and error.headers.get("Content-Range") == f"bytes */{start}":
            return None
        os.truncate(part, 0)  # not deleted, because it is locked
        start, response = 0, _open(url, 0, least)
    if start and not _continues(response, start, size):
        if least:
            response.close()
            raise OSError(f"it cannot continue after {start:,} bytes")
        if response.status == 206:  # another part than was asked for
            response.close()
            response = _open(url, 0, least)
        start = 0
    length = response.headers.get("Content-Length")
    differs = size is not None and length != str(size - start)
    if differs and response.headers.get_content_type() == "text/html":
        response.close()
        raise OSError("it sent a web page instead of the file")
    if differs and length and length.isdecimal() and not start:
        response.close()
        raise OSError(f"it has {int(length):,} bytes, expected {size:,}: it is a different file")
    return response, start


def _continues(response: http.client.HTTPResponse, start: int, size: int | None) -> bool:
    """Whether the answer is the rest of the file from `start` on."""
    if response.status != 206:
        return False
    sent, _, whole = response.headers.get("Content-Range", "").partition("/")
    return sent.startswith(f"bytes {start}-") and (size is None or whole in ("*", str(size)))


def _open(url: str, start: int, least: float) -> http.client.HTTPResponse:
    headers = {"User-Agent": "tinyvit"}
    if start:
        headers["Range"] = f"bytes={start}-"
    timeout = WINDOW if least else TIMEOUT
    response = urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=timeout)
    check_address(response.url)  # to which the server may have sent us
    return response


def check_address(url: str) -> None:
    """Raise ValueError for anything but http and https, such as a file of this computer that never ends."""
    if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
        raise ValueError("expected an address that begins with https:// or http://")


def no_link(path: str, flags: int) -> int:
    """An opener for files that are no symbolic links: somebody else may have put one there."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)


def file_size(path: Path) -> int:
    """The bytes of a file; 0 if it is not there yet, or was just moved into place by another process."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def reason_of(error: Exception) -> str:
    """Why a download failed, for people."""
    if isinstance(error, urllib.error.HTTPError):
        return f"the server answered {error.code} {error.reason}"
    cause = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(cause, TimeoutError) and not cause.filename:
        return str(cause) if "process" in str(cause) else "it does not answer"
    if isinstance(cause, OSError) and cause.strerror:
        return ": ".join(str(part) for part in (cause.filename, cause.strerror) if part)
    return str(cause)
