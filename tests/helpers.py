"""What hypothesis draws for these tests, and how two results are compared."""

import numpy as np
from hypothesis import strategies as st

from tinyvit.model import ViTConfig


def seeds():
    """Seeds of random arrays: a failing test names the one that made it fail."""
    return st.integers(0, 2**32 - 1)


def dtypes():
    """The two dtypes that tinyvit computes in."""
    return st.sampled_from(["float32", "float64"])


def _fortran(x):
    return np.asfortranarray(x)


def _every_other(x):
    wide = np.full([2 * n for n in x.shape], 99, dtype=x.dtype)
    view = wide[(..., *(slice(None, None, 2) for _ in x.shape))]
    view[...] = x
    return view


def _backwards(x):
    return np.flip(np.flip(x).copy())


def layouts():
    """Ways to put the same numbers elsewhere in memory: functions from an array to an equal one."""
    return st.sampled_from([np.ascontiguousarray, _fortran, _every_other, _backwards])


def stored(path):
    """The arrays of an .npz file, by name."""
    with np.load(path, allow_pickle=False) as file:
        return dict(file)


def distance(a, b):
    """How far a is from b, relative to the size of b: |a - b| / |b|."""
    assert a.shape == b.shape
    return float(np.linalg.norm(a - b) / max(np.linalg.norm(b), 1e-300))


def some_images(rng, count, height, width):
    """Images of a few or of all bytes: smooth, noisy, or all the same."""
    middle, spread = rng.uniform(0, 256, (count, 1, 1, 3)), rng.choice([0, 3, 40, 200], (count, 1, 1, 1))
    slope = np.linspace(-1, 1, width)[:, None] * rng.choice([0, 60], (count, 1, 1, 1))
    noise = spread * rng.standard_normal((count, height, width, 3))
    return np.clip(middle + slope + noise, 0, 255).astype(np.uint8)


def tiny_config(**changes):
    """A model small enough for hundreds of forward passes a second."""
    numbers = {
        "image_size": 8,
        "patch_size": 4,
        "width": 12,
        "mlp_width": 20,
        "heads": 3,
        "layers": 2,
        "classes": 5,
    }
    return ViTConfig(**(numbers | changes))


def small_models(**choices):
    """Random small models, dropout and stochastic depth on or off; choices are of other or further fields.

    The LayerNorm of two or three nearly equal numbers blows rounding up: hence a width of four or more.
    """
    rates = st.sampled_from([0.0, 0.3])

    def build(heads, head_width, **numbers):
        width = heads * head_width * {"sincos": 4, "2d": 2}.get(numbers.get("position"), 1)  # as they need
        return tiny_config(heads=heads, width=width, **numbers)

    usual = {
        "heads": st.integers(1, 3),
        "head_width": st.integers(4, 6),
        "mlp_width": st.integers(1, 20),
        "layers": st.integers(1, 3),
        "image_size": st.sampled_from([4, 8, (8, 4), (4, 12)]),
        "pool": st.sampled_from(["token", "mean"]),
        "pre_logits": st.sampled_from([0, 7]),
        "gelu": st.sampled_from(["tanh", "exact"]),
        "dropout": rates,
        "attention_dropout": rates,
        "drop_path": rates,
    }
    return st.builds(build, **usual | choices)


def random_batch(config, count, rng, dtype="float64"):
    """Images (count, H, W, 3) around 0, and labels (count,)."""
    images = rng.standard_normal((count, *config.image_size, config.channels)).astype(dtype)
    return images, rng.integers(0, config.classes, count)
