"""A sheet of paper to draw on: lines, dots, text and images, in points from the top left corner.

Lines are drawn at several times their final size and then reduced, which smooths them. The paper is white and
the ink is dark, which is readable on both light and dark pages.

The font is the one that comes with Pillow, which has little beyond ASCII. Names of classes may be in any
script: a text that needs more is drawn in a font of the system that has all of its characters.
"""

import math
import os
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from PIL.PngImagePlugin import PngInfo

from tinyvit.insight.pictures.colours import INK, PAPER, QUIET
from tinyvit.support.errors import printable
from tinyvit.support.files import MARK
from tinyvit.support.files.atomic import write_atomically

Point = tuple[float, float]
Box = tuple[float, float, float, float]  # left, top, right, bottom
File = str | os.PathLike[str]


class Sheet:
    """White paper of width x height points.

    Each point becomes `pixels` pixels of the file, drawn `smooth` times as large. With smooth = 1, images are
    saved as they are, pixel for pixel.
    """

    def __init__(self, width: int, height: int, pixels: int = 1, smooth: int = 3):
        self.size = width, height
        self._saved = width * pixels, height * pixels
        self._scale = pixels * smooth  # pixels a point while drawing
        self._image = Image.new("RGB", (width * self._scale, height * self._scale), PAPER)
        self._draw = ImageDraw.Draw(self._image)

    def text(self, x: float, y: float, text: str, size: float, colour: str = INK, anchor: str = "mm") -> None:
        """Text at (x, y); anchor as in Pillow: 'mm' centred, 'lm' from the left, 'rm' to the right."""
        at = x * self._scale, y * self._scale
        text = drawable(text)
        self._draw.text(at, text, fill=colour, font=font(size * self._scale, text), anchor=anchor)

    def title(self, text: str, left: float, row: float = 32, size: float = 20, colour: str = INK) -> None:
        """As much of the text as fits between two margins that are as wide as the left one."""
        self.text(left, row, cut(text, self.size[0] - 2 * left, size), size, colour, "lm")

    def text_upwards(self, x: float, y: float, text: str, size: float = 14, colour: str = INK) -> None:
        """Text that reads upwards, centred on x and starting at y."""
        text = drawable(text)
        letters = font(size * self._scale, text)
        _, top, right, bottom = letters.getbbox(text, anchor="lm")
        mask = Image.new("L", (max(1, math.ceil(right)), max(1, math.ceil(bottom - top))))
        ImageDraw.Draw(mask).text((0, -top), text, 255, letters, anchor="lm")
        mask = mask.transpose(Image.Transpose.ROTATE_90)
        at = round(x * self._scale + top), round(y * self._scale) - mask.height
        self._image.paste(Image.new("RGB", mask.size, colour), at, mask)

    def line(self, points: Sequence[Point], colour: str = INK, width: float = 1.5) -> None:
        """A polyline through the points."""
        self._draw.line(self._scaled(points), fill=colour, width=round(width * self._scale), joint="curve")

    def dashes(self, points: Sequence[Point], colour: str = INK, width: float = 1.5) -> None:
        """A polyline through the points, interrupted every five points of its length."""
        corners = np.asarray(points, float)
        lengths = np.hypot(*np.diff(corners, axis=0).T)
        passed = np.concatenate([[0], np.cumsum(lengths)])
        for start in np.arange(0, passed[-1], 10.0):
            stop = min(start + 5.0, passed[-1])
            inside = passed[(passed > start) & (passed < stop)]
            at = np.concatenate([[start], inside, [stop]])
            dash = zip(
                np.interp(at, passed, corners[:, 0]), np.interp(at, passed, corners[:, 1]), strict=True
            )
            self.line([(float(x), float(y)) for x, y in dash], colour, width)

    def dot(self, at: Point, radius: float, colour: str) -> None:
        """A dot with a white rim, which sets it off from the background."""
        (x, y), s = at, self._scale
        for r, fill in ((radius + 1.5, PAPER), (radius, colour)):
            self._draw.ellipse([s * (x - r), s * (y - r), s * (x + r), s * (y + r)], fill=fill)

    def star(self, at: Point, radius: float, colour: str) -> None:
        """A five-pointed star with a white rim."""
        x, y = at
        for r, fill in ((radius + 2.5, PAPER), (radius, colour)):
            spokes = [(r if i % 2 == 0 else 0.42 * r, math.pi * (i / 5 - 0.5)) for i in range(10)]
            self._polygon([(x + s * math.cos(a), y + s * math.sin(a)) for s, a in spokes], fill)

    def rectangle(
        self, x: float, y: float, width: float, height: float, fill: str, outline: str | None = None
    ) -> None:
        """A rectangle with sharp corners; (x, y) is its top left corner, the outline a point wide."""
        corners = self._scaled([(x, y), (x + width, y + height)])
        self._draw.rectangle(corners, fill, outline, self._scale if outline else 0)

    def image(
        self, x: float, y: float, picture: np.ndarray | Image.Image, width: float | None = None
    ) -> None:
        """uint8 pixels (H, W, 3) or (H, W), or an image, with the top left corner at (x, y).

        It is enlarged without smoothing to the given width; without one, each of its pixels is a point.
        """
        if isinstance(picture, np.ndarray):
            picture = Image.fromarray(picture)
        width = picture.width if width is None else width
        size = round(width * self._scale), round(width * picture.height / picture.width * self._scale)
        if picture.size != size:
            picture = picture.convert("RGB").resize(size, Image.Resampling.NEAREST)
        self._image.paste(picture, (round(x * self._scale), round(y * self._scale)))

    def finished(self) -> Image.Image:
        """The picture to save: the drawing, reduced to its final size."""
        if self._image.size == self._saved:
            return self._image
        return self._image.reduce(self._image.width // self._saved[0])

    def save(self, path: File) -> None:
        """Write a PNG with tinyvit's mark, replacing path atomically. Raises UserError if that fails."""
        picture = self.finished()
        info = PngInfo()
        info.add_text(*MARK)
        write_atomically(Path(path), lambda file: picture.save(file, "PNG", pnginfo=info))

    def _polygon(self, corners: Sequence[Point], colour: str) -> None:
        self._draw.polygon(self._scaled(corners), fill=colour)

    def _scaled(self, points: Sequence[Point]) -> list[Point]:
        return [(float(x * self._scale), float(y * self._scale)) for x, y in points]


def fitted(image: np.ndarray, side: int) -> Image.Image:
    """An image (H, W, 3) uint8 smoothly enlarged or reduced, so that its longer side has `side` pixels."""
    scale = side / max(image.shape[:2])
    height, width = (max(1, round(n * scale)) for n in image.shape[:2])
    sampling = Image.Resampling.BICUBIC if scale > 1 else Image.Resampling.LANCZOS
    return Image.fromarray(image).resize((width, height), sampling)


# Parts side by side, each with a heading and a line that says what it means.

AROUND, GAP, ABOVE, BELOW = 44, 60, 128, 84  # the parts, in points; BELOW holds their scales
NAME_SIZE, MEANING_SIZE = 19, 15  # of the letters above each part


@dataclass(frozen=True)
class Part:
    """A part of a picture: its heading, its size in points, and draw(sheet, left, top), which draws it.

    Its scale, if it has one, is drawn below its height.
    """

    name: str
    meaning: str
    width: int
    height: int
    draw: Callable[[Sheet, int, int], None]

    @property
    def whole_width(self) -> int:
        """The width of the part and of the two lines above it."""
        lines = text_width(self.name, NAME_SIZE), text_width(self.meaning, MEANING_SIZE)
        return max(self.width, math.ceil(max(lines)))


def save_parts(parts: Sequence[Part], path: File, title: str, smooth: int = 1) -> None:
    """Draw the parts below a title to a PNG at path; smooth is that of Sheet."""
    width = 2 * AROUND + sum(part.whole_width for part in parts) + GAP * (len(parts) - 1)
    sheet = Sheet(width, ABOVE + max(part.height for part in parts) + BELOW, smooth=smooth)
    sheet.title(title, AROUND, 40, 26)
    left = AROUND
    for part in parts:
        sheet.text(left, 84, part.name, NAME_SIZE, INK, "lm")
        sheet.text(left, 108, part.meaning, MEANING_SIZE, QUIET, "lm")
        part.draw(sheet, left, ABOVE)
        left += part.whole_width + GAP
    sheet.save(path)


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
    paths = [
        path
        for folder in _FOLDERS
        for path in sorted(Path(folder).expanduser().rglob("*"))
        if path.suffix.lower() in (".ttf", ".ttc", ".otf")
    ]
    last = len(_PREFERRED)
    ranks = {
        path: next((i for i, name in enumerate(_PREFERRED) if path.name.lower().startswith(name)), last)
        for path in paths
    }
    return tuple(map(str, sorted(paths, key=ranks.__getitem__)))


def _has(path: str, characters: frozenset[str]) -> bool:
    """True if a font has a shape for each character, other than the one for those that it lacks."""
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
