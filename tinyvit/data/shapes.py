"""The built-in data set: ten silhouettes in random colours on textured grounds, drawn from a seed.

Made so that only form tells the classes apart: a shape may be lighter or darker than its ground, of any
colour, and its place, size and tilt vary, so that no single pixel, colour or patch says what it is. A linear
classifier on the pixels gets hardly more than a quarter right. Every class is its own mirror image, so
flipping an image left to right keeps its label.

Each silhouette is given by its signed distance function d(x, y): how far the point is from the outline,
negative inside (see Inigo Quilez, https://iquilezles.org/articles/distfunctions2d/). Then union is min,
intersection is max, and cutting a pixel's coverage from d makes the edges smooth.
"""

from __future__ import annotations

import numpy as np

from tinyvit.data.dataset import Dataset, ImageSet

SIZE = 32  # pixels, both ways
CLASSES = ("disc", "ring", "square", "diamond", "triangle", "plus", "cross", "star", "crescent", "heart")

BLOCK = 250  # images drawn at a time: small enough for the processor's cache
LUMA = np.array([0.299, 0.587, 0.114], dtype=np.float32)  # how bright red, green and blue look (ITU-R BT.601)


def make_shapes(train: int = 10_000, test: int = 2_000, seed: int = 0) -> Dataset:
    """The shapes data set: images (n, 32, 32, 3), ten classes as even in number as n allows, in random order.

    The same seed gives the same images, to the bit on the same machine. Training and test images are drawn
    from separate streams of it.
    """
    train_stream, test_stream = np.random.SeedSequence(seed).spawn(2)
    return Dataset("shapes", CLASSES, _draw_set(train, train_stream), _draw_set(test, test_stream))


def _draw_set(count: int, stream: np.random.SeedSequence) -> ImageSet:
    rng = np.random.Generator(np.random.Philox(stream))
    labels = rng.permutation(np.arange(count, dtype=np.int64) % len(CLASSES))
    images = np.empty((count, SIZE, SIZE, 3), dtype=np.uint8)
    for start in range(0, count, BLOCK):
        block = slice(start, start + BLOCK)
        images[block] = _draw_images(labels[block], rng)
    return ImageSet(images, labels)


def _draw_images(labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One image for each label, uint8 (n, 32, 32, 3)."""
    n = len(labels)
    ground_light, shape_light = _two_lights(n, rng)
    ground = _ground(ground_light, rng)  # (n, 32, 32, 3)
    coverage = _coverage(labels, rng)[..., None]  # (n, 32, 32, 1)
    image = ground + coverage * (_colour(shape_light, 0.9, rng)[:, None, None] - ground)
    image += 0.03 * rng.standard_normal(image.shape, dtype=np.float32)
    return (255 * image.clip(0, 1) + 0.5).astype(np.uint8)


def _coverage(labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """How much of each pixel the shape covers, from 0 to 1: (n, 32, 32)."""
    n = len(labels)
    radius = _uniform(rng, 10, 12.5, n)  # pixels: the shape spans about two thirds of the frame
    angle = _uniform(rng, -0.2, 0.2, n)  # radians, 11 degrees either way
    centre_x, centre_y = _uniform(rng, -2.5, 2.5, n), _uniform(rng, -2.5, 2.5, n)
    pixel = np.arange(SIZE, dtype=np.float32) - (SIZE - 1) / 2
    x = pixel - centre_x  # (n, 1, 32)
    y = -pixel[:, None] - centre_y  # (n, 32, 1), upwards
    cos, sin = np.cos(angle) / radius, np.sin(angle) / radius
    x, y = cos * x + sin * y, cos * y - sin * x  # (n, 32, 32), in units of the radius
    distance = np.empty_like(x)
    for label, name in enumerate(CLASSES):
        chosen = labels == label
        distance[chosen] = DISTANCES[name](x[chosen], y[chosen])
    return (0.5 - distance * radius).clip(0, 1)


def _two_lights(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Brightness of ground and shape, each (n, 1, 1): one dark, one light, either way round, well apart."""
    dark = _uniform(rng, 0.15, 0.4, n)
    light = dark + _uniform(rng, 0.4, 0.5, n)
    swap = rng.random((n, 1, 1)) < 0.5
    return np.where(swap, light, dark), np.where(swap, dark, light)


def _colour(light: np.ndarray, strength: float, rng: np.random.Generator) -> np.ndarray:
    """A random hue of the brightness asked for: (n, 3). A strength of 0 is grey."""
    rgb = rng.random((len(light), 3), dtype=np.float32)
    return light[:, :, 0] + strength * (rgb - (rgb @ LUMA)[:, None])


def _ground(light: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A blend of two hues across the frame with a wave over it: (n, 32, 32, 3)."""
    n = len(light)
    one, other = (_colour(light, 0.3, rng)[:, None, None] for _ in range(2))  # (n, 1, 1, 3)
    blend = 0.5 + 0.5 * _wave(rng, n, 0.02, 0.03)  # less than one period: a gradient
    stripes = _uniform(rng, 0.0, 0.06, n) * _wave(rng, n, 0.08, 0.3)
    return one + blend[..., None] * (other - one) + stripes[..., None]


def _wave(rng: np.random.Generator, n: int, lowest: float, highest: float) -> np.ndarray:
    """A plane wave of random direction, phase and frequency (periods a pixel), from -1 to 1: (n, 32, 32)."""
    direction, phase = _uniform(rng, 0, 2 * np.pi, n), _uniform(rng, 0, 2 * np.pi, n)
    frequency = 2 * np.pi * _uniform(rng, lowest, highest, n)
    pixel = np.arange(SIZE, dtype=np.float32)
    across = frequency * np.cos(direction) * pixel[None, None, :]
    down = frequency * np.sin(direction) * pixel[None, :, None]
    return np.sin(across + down + phase)


def _uniform(rng: np.random.Generator, low: float, high: float, n: int) -> np.ndarray:
    """One float32 for each of n images, shaped (n, 1, 1) to meet their pixels."""
    return low + (high - low) * rng.random((n, 1, 1), dtype=np.float32)


# The silhouettes, inside the unit circle, y upwards.


def _disc(x, y):
    return np.hypot(x, y) - 0.85


def _ring(x, y):
    return np.abs(np.hypot(x, y) - 0.7) - 0.2


def _box(x, y, half_width, half_height):
    return np.maximum(np.abs(x) - half_width, np.abs(y) - half_height)


def _square(x, y):
    return _box(x, y, 0.75, 0.75)


def _diamond(x, y):
    return (1.4 * np.abs(x) + np.abs(y) - 1) / 1.72  # 1.72 = sqrt(1.4^2 + 1)


def _triangle(x, y):
    """Three half planes: below the two sloping sides, above the base."""
    return np.maximum(0.866 * np.abs(x) + 0.5 * y, -y) - 0.5


def _plus(x, y):
    return np.minimum(_box(x, y, 0.95, 0.28), _box(x, y, 0.28, 0.95))


def _cross(x, y):
    return _plus(0.707 * (x + y), 0.707 * (x - y))


def _star(x, y):
    """Five points: the plane folded into one tenth of it, half a point, bounded there by a single line."""
    tenth = np.pi / 5
    angle = np.arctan2(x, y) % (2 * tenth)
    angle = np.minimum(angle, 2 * tenth - angle)  # 0 at a tip, pi/5 in a notch
    radius = np.hypot(x, y)
    notch_x, notch_y = 0.45 * np.cos(tenth), 0.45 * np.sin(tenth)
    length = np.hypot(notch_y, 1 - notch_x)
    normal_x, normal_y = notch_y / length, (1 - notch_x) / length  # of the line from tip (1, 0) to notch
    return normal_x * (radius * np.cos(angle) - 1) + normal_y * radius * np.sin(angle)


def _crescent(x, y):
    """A disc without a smaller one above its centre: a moon on its back."""
    return np.maximum(np.hypot(x, y) - 0.95, 0.72 - np.hypot(x, y - 0.5))


def _heart(x, y):
    """A square on its corner and two discs on its upper sides."""
    side = 0.55  # half the square's side
    corner = side * 1.414
    y = y + 0.25
    square = _box(0.707 * (x + y), 0.707 * (x - y), side, side)
    lobe = np.hypot(np.abs(x) - corner / 2, y - corner / 2) - side
    return np.minimum(square, lobe)


DISTANCES = {
    "disc": _disc,
    "ring": _ring,
    "square": _square,
    "diamond": _diamond,
    "triangle": _triangle,
    "plus": _plus,
    "cross": _cross,
    "star": _star,
    "crescent": _crescent,
    "heart": _heart,
}
