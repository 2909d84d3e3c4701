"""Reproducible random numbers for dropout and stochastic depth.

Each number is a hash of (seed, step, index of the draw, index of the image in the batch, index within the
image). There is no generator state to save or to share between threads, so a run resumed midway, a batch
split into parts, and another device all see the same noise. (This is the idea of counter-based generators,
Salmon et al. 2011; the mixing function is the 32-bit 'lowbias32' of Chris Wellons, good enough for masks.)
"""

from types import ModuleType

import numpy as np

from tinyvit.backend import Array


class Noise:
    """A source of uniform numbers for one training step.

    seed and step identify the step. first is the index in the batch of the first image that the caller works
    on: for images 32 to 63 of a batch alone, Noise(seed, step, first=32) gives the numbers of those images.
    Calls are numbered, so the same sequence of calls gives the same numbers.
    """

    def __init__(self, seed: int, step: int, first: int = 0):
        self.seed, self.step, self.first = seed, step, first
        self._draws = 0

    def uniform(self, shape: tuple[int, ...], xp: ModuleType) -> Array:
        """Uniform numbers in [0, 1), float32, of the given shape; the first axis counts images."""
        self._draws += 1
        key = draw_key(self.seed, self.step, self._draws)
        images = xp.arange(self.first, self.first + shape[0], dtype=np.uint32)
        keys = _mix(_mix(images ^ key[0]) ^ key[1])  # (B,)  one key for each image
        numbers = xp.arange(int(np.prod(shape[1:])), dtype=np.uint32)
        return hashed(keys[:, None], numbers).reshape(shape)


def draw_rows(noise: Noise, images: int, rows: int, count: int, xp: ModuleType) -> Array:
    """For each image, `count` different numbers out of 0 ... rows - 1, in a random order: (images, count).

    The choices depend only on the noise's seed and step and the index of the image, on every device.
    """
    # No two keys are equal, so that their order does not depend on how a device sorts.
    keys = (noise.uniform((images, rows), xp) * 2**24).astype(xp.int64) * rows + xp.arange(rows)
    return keys.argsort(axis=1)[:, :count]


def hashed(keys: Array, numbers: Array) -> Array:
    """Uniform numbers in [0, 1), float32: a hash of each key and number, both uint32, broadcast together."""
    bits = _mix(_mix(numbers ^ keys) + keys)
    return (bits >> 8).astype(np.float32) * 2.0**-24


def draw_key(seed: int, step: int, draw: int) -> np.ndarray:
    """The key (2,), uint32, of draw number `draw` of a step, counted from 1."""
    return np.random.SeedSequence((seed, step, draw)).generate_state(2)


def _mix(x: Array) -> Array:
    """Scramble uint32 numbers so that every input bit can flip every output bit; products wrap around."""
    x = x ^ (x >> 16)
    x = x * np.uint32(0x7FEB352D)
    x ^= x >> 15
    x *= np.uint32(0x846CA68B)
    x ^= x >> 16
    return x
