"""Pictures for the tests of photos."""

import struct
import zlib

import numpy as np
from PIL import Image, ImageDraw

from tinyvit.data.photos import read_photo

RED, BLUE, GREY, WHITE = (255, 0, 0), (0, 0, 255), (128, 128, 128), (255, 255, 255)


def seen(path, size):
    """What a model sees of an image file, cropped."""
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
    tags = {256: 20, 257: 24, 258: 8, 259: 8, 262: 1, 277: 1}
    tags |= {322: width, 323: height, 324: 8, 325: len(tile)}
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags.items())
    start = b"II*\0" + struct.pack("<I", 8 + len(tile))
    return start + tile + struct.pack("<H", len(tags)) + entries + bytes(4)
