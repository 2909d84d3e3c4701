"""The operations of augmentation: those that change colours, and those that move pixels.

Most of the former change each byte without regard to its neighbours: a table of 256 bytes for each channel.
The tables of all images are made first, and then looked up at once. Some of them depend on the image: those
of contrast on its mean, of autocontrast on its darkest and brightest bytes, of equalize on how often each
byte occurs.

Others blend an image with a duller version of itself, as in Pillow's ImageEnhance:

    result = dull + factor (image - dull)

A factor of 0 gives the dull version, 1 the image as it is, and beyond 1 what was dull becomes the opposite.

Shearing, moving and rotating are one gather for all images, from the nearest pixel. Each of these operations
says where in the source the centre of output pixel (x, y) lies:

    x' = a (x + 1/2) + b (y + 1/2) + c        y' = d (x + 1/2) + e (y + 1/2) + f             (1)

It shows the pixel that (x', y') lies in, or grey outside the image. As in Pillow, (1) is computed in whole
numbers, of which 65536 make a pixel, so that every device finds the same pixels.
"""

import numpy as np

from tinyvit.backend import Array, array_module


def change_tones(images: Array, names: np.ndarray, amounts: np.ndarray) -> Array:
    """Images uint8 (m, H, W, 3) with other tones; names (m,) out of TONES, amounts (m,)."""
    xp = array_module(images)
    tables = xp.empty((len(images), 3, 256), dtype="uint8")
    for name, table in _TABLES.items():
        chosen = np.flatnonzero(names == name)
        if len(chosen):
            at = xp.asarray(chosen)
            tables[at] = table(images[at], xp.asarray(amounts[chosen], dtype="float32")[:, None, None])
    return tables.reshape(-1).take(_places(images))


def _places(images: Array) -> Array:
    """The index of each byte of images (m, H, W, 3) in their tables, as if these were one list."""
    xp = array_module(images)
    return images + 256 * xp.arange(3 * len(images)).reshape(-1, 1, 1, 3)


def _bytes(images: Array) -> Array:
    return array_module(images).arange(256, dtype="int16")


# Each of these gives tables (m, 3, 256), or what can be broadcast to them, for images and amounts (m, 1, 1).


def _brightness(images: Array, factor: Array) -> Array:
    return blend(0, _bytes(images), factor)


def _contrast(images: Array, factor: Array) -> Array:
    grey = luminance(images)
    pixels = grey[0].size
    mean = (2 * grey.sum(axis=(1, 2), dtype="int64") + pixels) // (2 * pixels)  # the nearest whole number
    return blend(mean.astype("int16")[:, None, None], _bytes(images), factor)


def _posterize(images: Array, bits: Array) -> Array:
    lost = 8 - bits.round().astype("int16")
    return (_bytes(images) >> lost << lost).astype("uint8")


def _solarize(images: Array, threshold: Array) -> Array:
    v = _bytes(images)
    return array_module(images).where(v < threshold, v, 255 - v).astype("uint8")


def _invert(images: Array, amount: Array) -> Array:
    return _solarize(images, amount * 0)


def _autocontrast(images: Array, amount: Array) -> Array:
    """Stretched so that the darkest byte of each channel becomes 0 and the brightest 255."""
    xp, v = array_module(images), _bytes(images)
    channels = xp.ascontiguousarray(images.transpose(0, 3, 1, 2)).reshape(len(images), 3, -1)
    low, high = (find(axis=-1, keepdims=True).astype("float64") for find in (channels.min, channels.max))
    scale = 255.0 / xp.maximum(high - low, 1)
    stretched = xp.clip(v * scale + -low * scale, 0, 255)
    return xp.where(high > low, stretched, v).astype("uint8")


def _equalize(images: Array, amount: Array) -> Array:
    """Changed so that all bytes become about equally frequent: a byte becomes its rank.

    The rank is counted in steps of 1/255 of the pixels below the brightest. How many are below a byte is
    where it would be inserted among them in order.
    """
    xp, (count, H, W) = array_module(images), images.shape[:3]
    in_order = xp.sort(_places(images).reshape(-1).astype("int32"))
    first = xp.arange(3 * count, dtype="int32")[:, None]  # the channels of the images, one after another
    below = xp.searchsorted(in_order, (256 * first + _bytes(images)).reshape(-1)).reshape(-1, 256)
    below = (below - first * H * W).reshape(count, 3, 256)
    step = xp.where(below < H * W, below, 0).max(axis=-1, keepdims=True) // 255
    ranks = xp.minimum((step // 2 + below) // xp.maximum(step, 1), 255)
    return xp.where(step > 0, ranks, _bytes(images)).astype("uint8")


_TABLES = {
    "brightness": _brightness,
    "contrast": _contrast,
    "posterize": _posterize,
    "solarize": _solarize,
    "invert": _invert,
    "autocontrast": _autocontrast,
    "equalize": _equalize,
}
TONES = tuple(_TABLES)


def change_colour(images: Array, names: np.ndarray, factors: np.ndarray) -> Array:
    """Images uint8 (m, H, W, 3) with more or less colour: the dull version is grey. factors: (m,)."""
    return blend(luminance(images)[..., None], images, _of_images(factors, images))


def change_sharpness(images: Array, names: np.ndarray, factors: np.ndarray) -> Array:
    """Images uint8 (m, H, W, 3), sharper or less sharp: the dull version is smoothed. factors: (m,)."""
    return blend(_smooth(images), images, _of_images(factors, images))


def blend(dull: Array, images: Array, factor: Array) -> Array:
    """dull + factor (images - dull), rounded down to bytes; dull is int16, factor float32, all broadcast."""
    xp = array_module(images)
    result = factor * (images.astype("int16") - dull) + dull
    return xp.clip(result, 0, 255).astype("uint8")


def luminance(images: Array) -> Array:
    """The brightness of the pixels of images (m, H, W, 3): int16 (m, H, W), with the weights of ITU-R 601."""
    red, green, blue = (images[..., channel].astype("int32") for channel in range(3))
    return ((19595 * red + 38470 * green + 7471 * blue + 32768) >> 16).astype("int16")


def _smooth(images: Array) -> Array:
    """Means over 3 x 3 pixels, of which the one in the middle counts five times; edges stay as they are."""
    x = images.astype("int16")
    rows = x[:, :-2] + x[:, 1:-1] + x[:, 2:]
    total = rows[:, :, :-2] + rows[:, :, 1:-1] + rows[:, :, 2:] + 4 * x[:, 1:-1, 1:-1]
    x[:, 1:-1, 1:-1] = (2 * total + 13) // 26  # total / 13, to the nearest whole number
    return x


def _of_images(factors: np.ndarray, images: Array) -> Array:
    return array_module(images).asarray(factors, dtype="float32")[:, None, None, None]


MOVES = ("shear_x", "shear_y", "translate_x", "translate_y", "rotate")
GREY = 128
_BITS = 16  # after the point


def move(images: Array, names: np.ndarray, amounts: np.ndarray) -> Array:
    """Each image moved in its own way, with grey where it shows nothing.

    images uint8 (m, H, W, 3); names (m,) out of MOVES and their amounts (m,) (see data.augment), in main
    memory. Shears keep the top left corner in place, and rotations the centre. A translation goes right or
    down by its share of the width or height, rounded towards zero to whole pixels.
    """
    xp = array_module(images)
    count, H, W = images.shape[:3]
    numbers = whole_numbers(names, amounts, H, W)[..., None, None]
    per_column, per_row, first = xp.asarray(numbers)  # (2, m, 1, 1) each
    column, row = xp.arange(W, dtype="int32"), xp.arange(H, dtype="int32")[:, None]
    x, y = (per_column * column + per_row * row + first) >> _BITS  # (m, H, W) each, eq. 1
    inside = (x >= 0) & (x < W) & (y >= 0) & (y < H)
    image = xp.arange(count)[:, None, None]
    pixels = xp.where(inside, (image * H + y) * W + x, 0)
    shown = images.reshape(-1, 3).take(pixels, axis=0)  # (m, H, W, 3)
    return xp.where(inside[..., None], shown, GREY)


def whole_numbers(names: np.ndarray, amounts: np.ndarray, H: int, W: int) -> np.ndarray:
    """The growth of x' and y' from column to column and from row to row, and their values at the first pixel.

    names and amounts (m,) are those of images of H x W pixels; returns int32 (3, 2, m), of which 65536 make a
    pixel.
    """
    angle = np.where(names == "rotate", -np.radians(amounts), 0.0)
    cos, sin = np.cos(angle).round(15), np.sin(angle).round(15)
    a, b, d, e = cos, sin, -sin, cos
    c = a * (-W / 2) + b * (-H / 2) + W / 2  # the centre stays where it is
    f = d * (-W / 2) + e * (-H / 2) + H / 2
    b = np.where(names == "shear_x", amounts, b)
    d = np.where(names == "shear_y", amounts, d)
    c = np.where(names == "translate_x", -np.trunc(amounts * W), c)
    f = np.where(names == "translate_y", -np.trunc(amounts * H), f)
    first = np.stack([c + a * 0.5 + b * 0.5, f + d * 0.5 + e * 0.5])
    numbers = np.stack([[a, d], [b, e], first])
    return np.floor(numbers * 2**_BITS + 0.5).astype(np.int32)
