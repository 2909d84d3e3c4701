"""Initial values of parameters: functions (rng, shape) -> array, with the official code's distributions."""

import math
from collections.abc import Callable

import numpy as np

Initialiser = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]


def zeros(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """All zeros; nothing is drawn."""
    return np.zeros(shape)


def ones(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """All ones; nothing is drawn."""
    return np.ones(shape)


def constant(rng: np.random.Generator, shape: tuple[int, ...], value: float) -> np.ndarray:
    """One value everywhere; nothing is drawn."""
    return np.full(shape, value)


def small_normal(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Normal with standard deviation 0.02: position embeddings."""
    return rng.normal(0, 0.02, shape)


def tiny_normal(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Normal with standard deviation 1e-6: biases of the MLP."""
    return rng.normal(0, 1e-6, shape)


def xavier_uniform(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Uniform with variance 2 / (inputs + outputs) (Glorot and Bengio 2010).

    This keeps the scale of activations going forward, and of gradients going backward, about constant.
    """
    limit = math.sqrt(6 / (shape[0] + shape[1]))
    return rng.uniform(-limit, limit, shape)


def xavier_uniform_qkv(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """The matrices of q, k and v side by side, (D, 3D), each Xavier-uniform as a D x D matrix."""
    D = shape[0]
    return np.concatenate([xavier_uniform(rng, (D, D)) for _ in range(3)], axis=1)


def lecun_normal(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Normal, truncated at two standard deviations, with variance 1 / inputs after truncation.

    The last axis is that of the outputs; all others are inputs, as in a convolution's kernel (k, k, I, O).
    """
    draw = rng.standard_normal(shape)
    while (far := np.abs(draw) > 2).any():
        draw[far] = rng.standard_normal(far.sum())
    truncated = 0.8796256610342398  # the standard deviation after truncation at 2
    return draw / (truncated * math.sqrt(math.prod(shape[:-1])))
