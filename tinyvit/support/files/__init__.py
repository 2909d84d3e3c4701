"""Files: opened whatever they are, locked, written atomically, downloaded, unpacked."""

import errno
import json
import os
import stat
from io import BufferedReader
from pathlib import Path
from typing import Any

from tinyvit.support.errors import UserError


def cache_folder() -> Path:
    """The folder for what is kept between runs and can be made or downloaded again.

    That is $TINYVIT_CACHE, or ~/.cache/tinyvit. Raises UserError if neither is known.
    """
    if chosen := os.environ.get("TINYVIT_CACHE"):
        return Path(chosen)
    try:
        return Path.home() / ".cache" / "tinyvit"
    except RuntimeError as error:  # neither $HOME nor an entry among the users, as in some containers
        raise UserError(
            "this user has no home folder to keep downloads in: set TINYVIT_CACHE to a folder."
        ) from error


LARGEST_TEXT = 8_000_000  # bytes of a text; as JSON, it may take 30 times as much memory
_MOST_DIGITS = 100
MARK = "Software", "tinyvit"  # the keyword and the text of a chunk before the pixels of a PNG
NOT_FREE = "exists, and it is not a picture drawn by this version of tinyvit, which replaces no others"
_MARK_WITHIN = 200  # bytes from the start of a file; Pillow puts the chunk at the 38th


def open_regular(path: Path) -> BufferedReader:
    """Open a file for reading bytes. Raises OSError for all but regular files, without waiting for a pipe."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, "it is a folder, expected a file")
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "it is a pipe or a device, expected a regular file")
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_text(path: Path, most: int | None = None) -> str:
    """The text of a file in UTF-8. Raises OSError, or ValueError if it is too long or is not text.

    most is how many bytes it may have; None is LARGEST_TEXT.
    """
    most = LARGEST_TEXT if most is None else most
    with open_regular(path) as file:
        content = file.read(min(most, os.fstat(file.fileno()).st_size) + 1)  # room is made for all of it
    if len(content) > most:
        raise ValueError(f"it has more than {most:,} bytes")
    return content.decode("utf-8")


def read_json(path: Path) -> Any:
    """The content of a JSON file. Raises OSError, or ValueError if it is not JSON."""
    return parse_json(read_text(path))


def parse_json(text: str, **options: Any) -> Any:
    """json.loads(text, **options), with ValueError as the only exception, also for absurdly long numbers."""
    if len(text) > LARGEST_TEXT:
        raise ValueError(f"it has more than {LARGEST_TEXT:,} characters")
    try:
        return json.loads(text, parse_int=_number, **options)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _number(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:  # products of longer ones would be more than Python prints
        raise ValueError(f"it contains a number of {len(digits):,} digits")
    return int(digits)


def is_marked(path: Path) -> bool:
    """True if path is a picture that tinyvit has drawn; False for what cannot be read."""
    try:
        with open_regular(path) as file:
            return b"tEXt" + "\0".join(MARK).encode() in file.read(_MARK_WITHIN)
    except OSError:
        return False


def is_free(path: Path) -> bool:
    """True if a picture may be drawn at path: there is nothing yet, or a picture that tinyvit has drawn."""
    return not os.path.lexists(path) or is_marked(path)
