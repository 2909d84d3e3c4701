"""Catches what is drawn on a sheet, as rectangles on its paper, so that tests can look for overlaps."""

from itertools import combinations

import numpy as np
from PIL import Image

from tinyvit.insight.pictures.sheet import Sheet, drawable, font


class Drawn:
    """Every text and image that was drawn, with its box (left, top, right, bottom) in points."""

    def __init__(self, monkeypatch):
        self.texts, self.images, self.stars, self.size = [], [], [], None
        for name in ("text", "text_upwards", "image", "star"):
            monkeypatch.setattr(Sheet, name, self._also(getattr(self, f"_on_{name}"), getattr(Sheet, name)))

    def words(self):
        return [text for text, _ in self.texts]

    def assert_nothing_overlaps(self):
        """No text or image lies on another or beyond the edge of the paper."""
        everything = self.texts + self.images
        width, height = self.size
        for what, (left, top, right, bottom) in everything:
            assert left >= 0 and top >= 0 and right <= width and bottom <= height, (what, self.size)
        for (one, a), (other, b) in combinations(everything, 2):
            apart = a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
            assert apart, f"{one!r} at {a} lies on {other!r} at {b}"

    def _also(self, watch, draw):
        def drawing(sheet, *args, **kwargs):
            self.size = sheet.size
            watch(*args, **kwargs)
            draw(sheet, *args, **kwargs)

        return drawing

    def _on_text(self, x, y, text, size=14, colour=None, anchor="mm"):
        left, top, right, bottom = font(size).getbbox(drawable(text), anchor=anchor)
        self.texts.append((text, (x + left, y + top, x + right, y + bottom)))

    def _on_text_upwards(self, x, y, text, size=14, colour=None):
        _, top, right, bottom = font(size).getbbox(drawable(text), anchor="lm")
        self.texts.append((text, (x + top, y - right, x + bottom, y)))

    def _on_image(self, x, y, picture, width=None):
        h, w = picture.shape[:2] if isinstance(picture, np.ndarray) else picture.size[::-1]
        width = w if width is None else width
        self.images.append((f"image {len(self.images)}", (x, y, x + width, y + width * h / w)))

    def _on_star(self, at, radius, colour):
        self.stars.append((at, colour))


def pixels(path):
    """The picture in a file, (H, W, 3) int."""
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB")).astype(int)
