"""Pictures for the tests of photos."""

import struct
import zlib

import numpy as np
from PIL import Image, ImageDraw

from tinyvit.data.photos import read_photo

RED, BLUE, GREY, WHITE = (255, 0, 0), (0, 0, 255), (128, 128, 128), (255, 255, 255)


def seen(path, size):
    """An image file as a model sees it, cropped."""
    return read_photo(path, size, with_whole=False).view


def scene(width, height, seed=0):
    """An image with soft and sharp parts, nothing of which is symmetrical."""
    rng = np.random.default_rng(seed)
    coarse = rng.integers(0, 256, (max(2, height // 40), max(2, width // 40), 3), dtype=np.uint8)
    image = Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC)
    draw = ImageDraw.Draw(image)
    for _ in range(12):
        x, y = (int(rng.integers(side)) for side in image.size)
        radius = int(rng.integers(2, max(3, width // 9)))
        colour = tuple(rng.integers(0, 256, 3).tolist())
        draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=colour)
    return image


def taken(image, orientation):
    """EXIF data of an image that was taken with the camera held in this way."""
    exif = image.getexif()
    exif[0x0112] = orientation
    return exif


def tiled_tiff(width, height):
    """A file of 20 x 24 grey pixels, in one compressed tile of this size."""
    tile = zlib.compress(bytes(width * height))
    return _tiff(tile, {256: 20, 257: 24, 258: 8, 259: 8, 262: 1, 277: 1, 322: width, 323: height, 324: 8})


def grey_tiff(levels, bits, white_is_zero=False, kind=1, big_endian=False, orientation=1):
    """A file of one row of grey pixels, whole numbers of that many bits: kind 1 is unsigned, 2 is signed."""
    order = ">" if big_endian else "<"
    if bits == 12:
        text = "".join(f"{level:012b}" for level in levels)
        strip = bytes(int(text[i : i + 8].ljust(8, "0"), 2) for i in range(0, len(text), 8))
    else:
        strip = np.array(levels).astype(f"{order}{'ui'[kind - 1]}{bits // 8}").tobytes()
    tags = {256: len(levels), 257: 1, 258: bits, 259: 1, 262: int(not white_is_zero), 273: 8}
    tags |= {274: orientation, 277: 1, 278: 1, 279: len(strip), 339: kind}
    return _tiff(strip, tags, order)


def _tiff(content, tags, order="<"):
    """A file of that content, at byte 8, and these tags."""
    tags = dict(sorted((tags | {325: len(content)} if 324 in tags else tags).items()))
    entries = b"".join(struct.pack(f"{order}HHII", tag, 4, 1, value) for tag, value in tags.items())
    start = (b"II*\0" if order == "<" else b"MM\0*") + struct.pack(f"{order}I", 8 + len(content))
    return start + content + struct.pack(f"{order}H", len(tags)) + entries + bytes(4)
