"""The mark in every picture that tinyvit draws, by which it tells them from all other files."""

import os
from pathlib import Path

from tinyvit.files.reading import open_regular

MARK = "Software", "tinyvit"  # the keyword and the text of a chunk before the pixels
NOT_FREE = "exists, and it is not a picture drawn by this version of tinyvit, which replaces no others"
_WITHIN = 200  # bytes from the start of a file; Pillow puts the chunk at the 38th


def is_marked(path: Path) -> bool:
    """Whether path is a picture that tinyvit has drawn; False for what cannot be read."""
    try:
        with open_regular(path) as file:
            return b"tEXt" + "\0".join(MARK).encode() in file.read(_WITHIN)
    except OSError:
        return False


def is_free(path: Path) -> bool:
    """Whether a picture may be drawn at path: there is nothing yet, or a picture that tinyvit has drawn."""
    return not os.path.lexists(path) or is_marked(path)
