"""Three backwards of stochastic depth, of which one is wrong: which, and on what input does it show?

All three are honest about the forward. They differ in what they remember for the backward.
"""

import numpy as np

from tinyvit.ops import Noise

RATE, SEED, STEP = 0.1, 6, 3


def _mask(noise, x):
    kept = noise.uniform((x.shape[0], 1, 1), np) >= RATE
    return kept / (1 - RATE)


def remembers_the_mask(x):
    mask = _mask(Noise(SEED, STEP), x)
    return x * mask, mask


def remembers_the_mask_backward(dy, mask):
    return dy * mask


def remembers_the_seed(x):
    return x * _mask(Noise(SEED, STEP), x), (SEED, STEP)


def remembers_the_seed_backward(dy, cache):
    return dy * _mask(Noise(*cache), dy)


def remembers_the_noise(x):
    noise = Noise(SEED, STEP)
    return x * _mask(noise, x), noise


def remembers_the_noise_backward(dy, noise):
    return dy * _mask(noise, dy)


SUSPECTS = {
    "remembers the mask": (remembers_the_mask, remembers_the_mask_backward),
    "remembers the seed": (remembers_the_seed, remembers_the_seed_backward),
    "remembers the noise": (remembers_the_noise, remembers_the_noise_backward),
}
