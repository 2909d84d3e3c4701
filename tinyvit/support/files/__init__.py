"""Files: opened whatever they are, locked, written atomically, downloaded, unpacked."""

import os
from pathlib import Path

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
