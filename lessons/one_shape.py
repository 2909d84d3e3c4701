"""Easier pictures for lessons 3 and 4: one shape each, in the middle or anywhere, light or also dark."""

from __future__ import annotations

import numpy as np

from tinyvit.data.shapes import CLASSES, DISTANCES, SIZE, TILT


def one_shape(
    count: int, seed: int, moves: bool = False, negatives: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Pictures, uint8 (count, 32, 32, 3), each of one shape on plain ground, and their labels (count,).

    The shape lies in the middle, or, if it moves, anywhere in the frame. It is lighter than the ground, or,
    with negatives, as often darker. Its size, its tilt and both colours are random.
    """
    rng = np.random.default_rng(seed)
    labels = rng.integers(len(CLASSES), size=count)
    images = np.empty((count, SIZE, SIZE, 3))
    for image, label in zip(images, labels, strict=True):
        radius, angle = rng.uniform(6, 8), rng.uniform(-TILT, TILT)
        reach = moves * (SIZE / 2 - radius)
        centre_x, centre_y = rng.uniform(-reach, reach, 2)
        dark, light = rng.uniform(0.1, 0.4, 3), rng.uniform(0.6, 0.9, 3)  # red, green and blue
        ground, shape = (light, dark) if negatives and rng.random() < 0.5 else (dark, light)
        image[:] = ground + _coverage(CLASSES[label], centre_x, centre_y, radius, angle) * (shape - ground)
    images += rng.normal(0, 0.015, images.shape)
    return (255 * images.clip(0, 1)).round().astype(np.uint8), labels


def _coverage(name: str, centre_x: float, centre_y: float, radius: float, angle: float) -> np.ndarray:
    """The share of each pixel that the shape covers, (32, 32, 1), 0 to 1."""
    pixel = np.arange(SIZE) - (SIZE - 1) / 2  # from the middle of the picture
    across, up = (pixel - centre_x)[None, :] / radius, -(pixel - centre_y)[:, None] / radius
    cos, sin = np.cos(angle), np.sin(angle)
    distance = DISTANCES[name](cos * across + sin * up, cos * up - sin * across)
    return (0.5 - distance * radius).clip(0, 1)[..., None]
