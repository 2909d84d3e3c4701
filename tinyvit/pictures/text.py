"""Text for pictures, in the font that comes with Pillow: measuring it, and making it fit."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from PIL import ImageFont

ELLIPSIS = "…"
# What the font can draw beyond ASCII; it shows an empty box for everything else.
_DRAWN = frozenset("©«°±´·»‘’“”…‹›⁄™\n")
_REPLACED = str.maketrans({"×": "x", "−": "-", "–": "-", "—": "-", "ß": "ss", "ø": "o", "ł": "l", "æ": "ae"})


@lru_cache(maxsize=64)
def font(size: float) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """Pillow's own font, `size` pixels high."""
    return ImageFont.load_default(size)


def text_width(text: str, size: float) -> float:
    """The width in points of a line of text drawn by Sheet.text."""
    return font(size).getlength(drawable(text))


def drawable(text: str) -> str:
    """The text in characters that the font has: accents are dropped, and other characters become '?'."""
    if text.isascii() and text.isprintable():
        return text
    plain = unicodedata.normalize("NFKD", text.translate(_REPLACED))
    kept = (c for c in plain if not unicodedata.combining(c))
    return "".join(c if c in _DRAWN or (c.isascii() and c.isprintable()) else "?" for c in kept)


def cut(text: str, width: float, size: float) -> str:
    """The text, or as much of its start as fits into width points with an ellipsis."""
    text = drawable(text)
    if not text or text_width(text, size) <= width:
        return text
    return _longest([text[:n] + ELLIPSIS for n in range(len(text))], width, size)


def cut_middle(text: str, width: float, size: float) -> str:
    """The text, or its two ends, where file names differ, with an ellipsis between them."""
    text = drawable(text)
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
