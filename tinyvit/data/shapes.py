"""The built-in data set: pictures of a few shapes, drawn from a seed. The class is what kind of shape it is.

There are ten silhouettes. A picture shows one of them three to five times: anywhere in the frame, small or
large, a little tilted, some in front of others, in any colours on a faintly striped ground, and as often
darker than the ground as lighter. The pictures are made like this so that they need what a Vision
Transformer is good at:

- No pixel tells the class, because a shape may lie anywhere. No weighted sum of pixels does either, because
  dark on light and light on dark cancel: a linear classifier is hardly better than guessing.
- What is learned about a shape at one place must serve at all others. A Vision Transformer looks at every
  patch with the same weights. A perceptron has its own weights for each pixel and must learn each place
  separately: with as many parameters it stays far behind.
- Colours, brightness, sizes and the number of shapes are drawn alike for all classes: only form is left.
- Every silhouette is its own mirror image, so flipping a picture left to right keeps its label.

`lessons/00_pixels/figures/baselines.py` measures the first two claims.

Each silhouette is given by its signed distance function d(x, y): how far the point is from the outline,
negative inside (see Inigo Quilez, https://iquilezles.org/articles/distfunctions2d/). Then union is min,
intersection is max, and cutting a pixel's coverage from d makes the edges smooth.
"""

from collections.abc import Iterator

import numpy as np

from tinyvit.data.dataset import Dataset, ImageSet

SIZE = 32  # pixels, both ways
CLASSES = ("disc", "ring", "square", "triangle", "cross", "star", "crescent", "heart", "leaf", "arrow")

FEWEST, MOST = 3, 5  # shapes in a picture
SMALLEST, LARGEST = 4.0, 6.0  # radius of the circle around a shape, in pixels
TILT = 0.25  # radians either way: 14 degrees
TRIES = 20  # places to choose from for each shape, so that few overlap

BLOCK = 250  # images drawn at a time: small enough for the processor's cache
# How bright red, green and blue look (ITU-R BT.601), and where they stand on the colour wheel, in radians.
LUMA = np.array([0.299, 0.587, 0.114], dtype=np.float32)
HUES = np.array([0, 2, 4], dtype=np.float32) * np.pi / 3


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
    image = _ground(ground_light, rng)  # (n, 32, 32, 3)
    for centre_x, centre_y, radius, shown in draw_places(n, rng):
        coverage = (shown * _coverage(labels, centre_x, centre_y, radius, rng))[..., None]  # (n, 32, 32, 1)
        image += coverage * (_colour(shape_light, 0.3, rng)[:, None, None] - image)
    image += 0.015 * rng.standard_normal(image.shape, dtype=np.float32)
    return (255 * image.clip(0, 1) + 0.5).astype(np.uint8)


def draw_places(n: int, rng: np.random.Generator) -> Iterator[tuple[np.ndarray, ...]]:
    """The places of the shapes of n pictures: the first shape of each, then the second, and so on.

    Yields centre x and y and radius, in pixels from the middle of the picture, and whether the picture has
    such a shape at all: each (n, 1, 1). Of TRIES random places inside the frame a shape takes the first
    where it overlaps none of those before it, or, where all overlap, the one that overlaps least.
    """
    count = rng.integers(FEWEST, MOST, (n, 1, 1), endpoint=True)
    taken: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    for number in range(MOST):
        radius = SMALLEST * (LARGEST / SMALLEST) ** _uniform(rng, 0, 1, n)
        reach = SIZE / 2 - radius
        x, y = _uniform(rng, -reach, reach, n, TRIES), _uniform(rng, -reach, reach, n, TRIES)  # (n, 1, TRIES)
        room = np.zeros_like(x)  # between this shape and the nearest other: 0 if there is any, or below
        for other_x, other_y, other_radius in taken:
            room = np.minimum(room, np.hypot(x - other_x, y - other_y) - other_radius - radius)
        best = room.argmax(axis=2, keepdims=True)
        x, y = np.take_along_axis(x, best, axis=2), np.take_along_axis(y, best, axis=2)  # (n, 1, 1)
        taken.append((x, y, radius))
        yield x, y, radius, number < count


def _coverage(
    labels: np.ndarray,
    centre_x: np.ndarray,
    centre_y: np.ndarray,
    radius: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """The share of each pixel that a shape covers, from 0 to 1: (n, 32, 32)."""
    pixel = np.arange(SIZE, dtype=np.float32) - (SIZE - 1) / 2
    x = pixel - centre_x  # (n, 1, 32)
    y = -pixel[:, None] - centre_y  # (n, 32, 1), upwards
    angle = _uniform(rng, -TILT, TILT, len(labels))
    cos, sin = np.cos(angle) / radius, np.sin(angle) / radius
    x, y = cos * x + sin * y, cos * y - sin * x  # (n, 32, 32), in units of the radius
    distance = np.empty_like(x)
    for label, name in enumerate(CLASSES):
        chosen = labels == label
        distance[chosen] = DISTANCES[name](x[chosen], y[chosen])
    return (0.5 - distance * radius).clip(0, 1)


def _two_lights(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Brightness of ground and shapes, each (n, 1, 1): one dark, one light, either way round, well apart."""
    dark = _uniform(rng, 0.12, 0.4, n)
    light = dark + _uniform(rng, 0.4, 0.55, n)
    swap = rng.random((n, 1, 1)) < 0.5
    return np.where(swap, light, dark), np.where(swap, dark, light)


def _colour(light: np.ndarray, strength: float, rng: np.random.Generator) -> np.ndarray:
    """A random hue of the brightness asked for: (n, 3). A strength of 0 is grey."""
    rgb = np.cos(_uniform(rng, 0, 2 * np.pi, len(light))[:, 0] - HUES)
    return light[:, 0] + strength * (rgb - (rgb @ LUMA)[:, None])


def _ground(light: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A blend of two hues across the frame with faint stripes over it: (n, 32, 32, 3)."""
    n = len(light)
    one, other = (_colour(light, 0.12, rng)[:, None, None] for _ in range(2))  # (n, 1, 1, 3)
    blend = 0.5 + 0.5 * _wave(rng, n, 0.02, 0.03)  # less than one period: a gradient
    stripes = _uniform(rng, 0.0, 0.04, n) * _wave(rng, n, 0.06, 0.25)
    return one + blend[..., None] * (other - one) + stripes[..., None]


def _wave(rng: np.random.Generator, n: int, lowest: float, highest: float) -> np.ndarray:
    """A plane wave of random direction, phase and frequency (periods a pixel), from -1 to 1: (n, 32, 32)."""
    direction, phase = _uniform(rng, 0, 2 * np.pi, n), _uniform(rng, 0, 2 * np.pi, n)
    frequency = 2 * np.pi * _uniform(rng, lowest, highest, n)
    pixel = np.arange(SIZE, dtype=np.float32)
    across = frequency * np.cos(direction) * pixel[None, None, :]
    down = frequency * np.sin(direction) * pixel[None, :, None]
    return np.sin(across + down + phase)


def _uniform(
    rng: np.random.Generator, low: float | np.ndarray, high: float | np.ndarray, n: int, each: int = 1
) -> np.ndarray:
    """Float32 numbers for each of n images, (n, 1, each): shaped to meet their pixels."""
    return low + (high - low) * rng.random((n, 1, each), dtype=np.float32)


# The silhouettes, inside the unit circle, y upwards.


def _disc(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.hypot(x, y) - 0.85


def _ring(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.abs(np.hypot(x, y) - 0.72) - 0.23


def _box(x: np.ndarray, y: np.ndarray, half_width: float, half_height: float) -> np.ndarray:
    return np.maximum(np.abs(x) - half_width, np.abs(y) - half_height)


def _square(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return _box(x, y, 0.7, 0.7)


def _triangle(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Three half planes: below the two sloping sides, above the base."""
    return np.maximum(0.866 * np.abs(x) + 0.5 * y, -y) - 0.5


def _cross(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.minimum(_box(x, y, 0.95, 0.28), _box(x, y, 0.28, 0.95))


def _star(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Five points: the plane folded into one tenth of it, half a point, bounded there by a single line."""
    tenth = np.pi / 5
    angle = np.arctan2(x, y) % (2 * tenth)
    angle = np.minimum(angle, 2 * tenth - angle)  # 0 at a tip, pi/5 in a notch
    radius = np.hypot(x, y)
    notch_x, notch_y = 0.45 * np.cos(tenth), 0.45 * np.sin(tenth)
    length = np.hypot(notch_y, 1 - notch_x)
    normal_x, normal_y = notch_y / length, (1 - notch_x) / length  # of the line from tip (1, 0) to notch
    return normal_x * (radius * np.cos(angle) - 1) + normal_y * radius * np.sin(angle)


def _crescent(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """A disc without a smaller one above its centre: a moon on its back."""
    return np.maximum(np.hypot(x, y) - 0.95, 0.72 - np.hypot(x, y - 0.5))


def _heart(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """A square on its corner and two discs on its upper sides."""
    side = 0.55  # half the square's side
    corner = side * 1.414
    y = y + 0.25
    square = _box(0.707 * (x + y), 0.707 * (x - y), side, side)
    lobe = np.hypot(np.abs(x) - corner / 2, y - corner / 2) - side
    return np.minimum(square, lobe)


def _leaf(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The area that two large discs share, one to the left, one to the right: tips at (0, 1) and (0, -1)."""
    half_width = 0.45
    offset = (1 - half_width**2) / (2 * half_width)  # of the discs' centres
    return np.hypot(np.abs(x) + offset, y) - (offset + half_width)


def _arrow(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """A triangle with its tip at (0, 1) on a shaft."""
    head = np.maximum((0.95 * np.abs(x) + 0.8 * (y - 1)) / 1.242, 0.05 - y)  # 1.242 = hypot(0.95, 0.8)
    return np.minimum(head, _box(x, y + 0.4, 0.24, 0.55))


_SILHOUETTES = (_disc, _ring, _square, _triangle, _cross, _star, _crescent, _heart, _leaf, _arrow)
DISTANCES = dict(zip(CLASSES, _SILHOUETTES, strict=True))
