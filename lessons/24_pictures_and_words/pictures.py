"""Pictures with captions such as "three green stars", with the silhouettes of the built-in shapes.

A picture shows one, two or three shapes of one kind and one colour, anywhere, on grey ground. Every kind of
shape is never shown in one of the colours: those ten pairs, "red star" among them, are kept for the end.
"""

import numpy as np

from tinyvit.data.shapes import CLASSES, DISTANCES, SIZE, TILT

COLOURS = {
    "red": (225, 40, 40),
    "orange": (240, 140, 30),
    "yellow": (235, 220, 60),
    "green": (40, 160, 60),
    "blue": (40, 80, 215),
    "purple": (150, 50, 170),
    "pink": (250, 150, 190),
    "brown": (120, 70, 30),
    "black": (15, 15, 15),
    "white": (250, 250, 250),
}
NUMBERS = ("one", "two", "three")
PLURALS = {shape: f"{shape}s" for shape in CLASSES} | {"cross": "crosses", "leaf": "leaves"}
PAIRS = tuple((colour, shape) for colour in COLOURS for shape in CLASSES)  # all 100
NEVER = tuple((colour, shape) for i, shape in enumerate(CLASSES) for colour in [[*COLOURS][(i + 5) % 10]])
SHOWN = tuple(pair for pair in PAIRS if pair not in NEVER)  # the 90 of the training


def caption(number: int, colour: str, shape: str) -> str:
    """The caption of so many shapes: caption(3, "green", "star") is "three green stars"."""
    return f"{NUMBERS[number - 1]} {colour} {shape if number == 1 else PLURALS[shape]}"


def draw(count: int, pairs: tuple[tuple[str, str], ...], rng: np.random.Generator):
    """Pictures, uint8 (count, 32, 32, 3), their captions, and of which of the pairs each is, (count,)."""
    which, numbers = rng.integers(len(pairs), size=count), rng.integers(1, 4, size=count)
    colours = np.array([COLOURS[pairs[i][0]] for i in which])[:, None, None]  # (count, 1, 1, 3)
    ground = rng.uniform(70, 160, (count, 1, 1, 1))
    images = ground + rng.normal(0, 4, (count, SIZE, SIZE, 3))
    quarters = rng.permuted(np.tile(np.arange(4), (count, 1)), axis=1)[:, :3]  # no two shapes in one
    for k, quarter in enumerate(quarters.T[:, :, None, None]):
        radius = rng.uniform(5.5, 7.5, quarter.shape)
        x, y = (
            8 * (2 * side - 1) + rng.uniform(radius - 8, 8 - radius) for side in (quarter % 2, quarter // 2)
        )
        coverage = _coverage([pairs[i][1] for i in which], x, y, radius, rng) * (k < numbers)[:, None, None]
        images += coverage[..., None] * (colours * rng.uniform(0.85, 1, (count, 1, 1, 1)) - images)
    captions = [caption(n, *pairs[i]) for n, i in zip(numbers, which, strict=True)]
    return images.clip(0, 255).astype(np.uint8), captions, which


def _coverage(shapes, centre_x, centre_y, radius, rng):
    """The share of each pixel that a shape covers, from 0 to 1: (count, 32, 32)."""
    pixel = np.arange(SIZE) - (SIZE - 1) / 2
    angle = rng.uniform(-TILT, TILT, radius.shape)
    cos, sin = np.cos(angle) / radius, np.sin(angle) / radius
    x, y = pixel - centre_x, -pixel[:, None] - centre_y
    x, y = cos * x + sin * y, cos * y - sin * x  # in units of the radius
    distance = np.stack([DISTANCES[shape](*place) for shape, *place in zip(shapes, x, y, strict=True)])
    return (0.5 - distance * radius).clip(0, 1)
