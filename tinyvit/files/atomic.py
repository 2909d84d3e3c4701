"""Writing a file so that a reader finds either the old one, whole, or the new one, whole."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from tinyvit.errors import UserError


def write_atomically(path: Path, write: Callable[[BinaryIO], None]) -> None:
    """Call write on a file beside path, flush it to the disk, then move it into place.

    If anything fails, path is as it was and nothing is left beside it. Raises UserError where the disk is
    full or the place not writable.
    """
    beside = path.with_name(f".{path.name}.writing")
    try:
        with open(beside, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except FileNotFoundError as error:
        raise UserError(f"cannot write {path}: there is no folder {path.parent}. Make it first.") from error
    except OSError as error:
        raise UserError(
            f"cannot write {path}: {error.strerror or error}. What was there before is untouched; make "
            "room, or choose another place."
        ) from error
    finally:
        with contextlib.suppress(OSError):  # it was moved, or never made
            beside.unlink()
