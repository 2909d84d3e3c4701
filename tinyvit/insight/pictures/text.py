"""Text for pictures: its font, its width, and making it fit.

The font is the one that comes with Pillow, which has little beyond ASCII. Names of classes may be in any
script: a text that needs more is drawn in a font of the system that has all of its characters.
"""

import unicodedata
from functools import cache, lru_cache
from pathlib import Path

from PIL import ImageFont

from tinyvit.support.errors import printable

ELLIPSIS = "…"
_DRAWN = frozenset("©«°±´·»‘’“”…‹›⁄™\n")  # what Pillow's font has beyond ASCII
_TYPOGRAPHY = str.maketrans({"×": "x", "−": "-", "–": "-", "—": "-"})
_LETTERS = str.maketrans({"ß": "ss", "ø": "o", "ł": "l", "æ": "ae"})
_FOLDERS = (
    *("/usr/share/fonts", "/usr/local/share/fonts", "~/.fonts", "~/.local/share/fonts"),
    *("/System/Library/Fonts", "/Library/Fonts", "~/Library/Fonts", "C:/Windows/Fonts"),
)
# The beginnings of the names of fonts that look well here and have many characters, the best first
_PREFERRED = ("dejavusans.", "notosans-regular", "arial.", "segoeui.", "notosanscjk-regular", "arial unicode")


@lru_cache(maxsize=64)
def font(size: float, text: str = "") -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """Pillow's own font, `size` pixels high, or one of the system if only that can draw the text."""
    path = None if _is_plain(text) else _font_with(text)
    return ImageFont.truetype(path, size) if path else ImageFont.load_default(size)


def text_width(text: str, size: float) -> float:
    """The width in points of a line of text drawn by Sheet.text."""
    text = drawable(text)
    return font(size, text).getlength(text)


@lru_cache(maxsize=1024)
def drawable(text: str) -> str:
    """The text in characters that some font has.

    Where no font has all of them, accents are dropped, and what else is missing is written as its code point.
    """
    text = text.translate(_TYPOGRAPHY)
    if _is_plain(text) or _font_with(text):
        return text
    plain = unicodedata.normalize("NFKD", text.translate(_LETTERS))
    kept = (c for c in plain if not unicodedata.combining(c))
    return "".join(c if _is_plain(c) else c.encode("unicode_escape").decode() for c in kept)


def _is_plain(text: str) -> bool:
    return all((c.isascii() and c.isprintable()) or c in _DRAWN for c in text)


@lru_cache(maxsize=1024)
def _font_with(text: str) -> str | None:
    """The file of a font that has all characters of the text; None if the system has none."""
    if not all(c.isprintable() or c == "\n" for c in text):
        return None
    return next((path for path in _fonts() if _has(path, frozenset(text) - {"\n"})), None)


@cache
def _fonts() -> tuple[str, ...]:
    """The files of the system's fonts, the preferred ones first."""
    found = [
        path
        for folder in _FOLDERS
        for path in sorted(Path(folder).expanduser().rglob("*"))
        if path.suffix.lower() in (".ttf", ".ttc", ".otf")
    ]
    last = len(_PREFERRED)
    ranks = {
        path: next((i for i, name in enumerate(_PREFERRED) if path.name.lower().startswith(name)), last)
        for path in found
    }
    return tuple(map(str, sorted(found, key=ranks.__getitem__)))


def _has(path: str, characters: frozenset[str]) -> bool:
    """Whether a font has a shape for each character, other than the one for those that it lacks."""
    try:
        letters = ImageFont.truetype(path, 20)
        lacking = bytes(letters.getmask("\ufffe"))
        return all(c.isspace() or bytes(letters.getmask(c)) not in (lacking, b"") for c in characters)
    except (OSError, ValueError):  # a font of pictures in one size, or a damaged one
        return False


def cut(text: str, width: float, size: float) -> str:
    """The text on one line, or as much of its start as fits into width points with an ellipsis."""
    text = drawable(printable(text))
    if not text or text_width(text, size) <= width:
        return text
    return _longest([text[:n] + ELLIPSIS for n in range(len(text))], width, size)


def cut_middle(text: str, width: float, size: float) -> str:
    """The text on one line, or its two ends, where file names differ, with an ellipsis between them."""
    text = drawable(printable(text))
    if not text or text_width(text, size) <= width:
        return text
    halves = (((n + 1) // 2, n // 2) for n in range(len(text)))
    return _longest([text[:a] + ELLIPSIS + text[len(text) - b :] for a, b in halves], width, size)


def _longest(candidates: list[str], width: float, size: float) -> str:
    """The last candidate that fits, by bisection; each is a character longer than the one before."""
    fits, beyond = 0, len(candidates)  # the first candidate, a bare ellipsis, is always accepted
    while beyond - fits > 1:
        middle = (fits + beyond) // 2
        if text_width(candidates[middle], size) <= width:
            fits = middle
        else:
            beyond = middle
    return candidates[fits]
