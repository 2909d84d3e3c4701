"""Corrupted patches and what is predicted of them: the kernels against tinyvit.ops and tinyvit.objectives."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.cuda.cases import C_TYPES, normal, storage
from tests.engine.cuda.run import assert_agrees, run
from tests.helpers import seeds, tiny_config
from tinyvit import ops
from tinyvit.engine.cuda.calls.loss import colour_classes, cross_entropy_partials, squared_error
from tinyvit.engine.cuda.calls.noise import noise_keys
from tinyvit.engine.cuda.calls.stem import draw_corruption
from tinyvit.engine.cuda.launch import Buffer
from tinyvit.objectives.masked_patches import true_patches

CORRUPTION = tuple(f"draw_corruption<{kind}>" for kind in C_TYPES.values())
TARGETS = ("colour_classes", *(f"squared_error<{kind}>" for kind in C_TYPES.values()))


@pytest.mark.parametrize("dtype", C_TYPES)
@pytest.mark.parametrize(("images", "patches", "share"), [(3, 2, 0.5), (4, 64, 0.5), (2, 300, 0.75)])
def test_a_corruption_is_that_of_the_reference(images, patches, share, dtype):
    noise = ops.Noise(7, 3, 40)
    noise.uniform((1, 1), np)  # a draw of some other part
    expected = ops.draw_corruption(noise, images, patches, share, np)
    n = expected.chosen.shape[1]
    names = {"chosen": n, "places": patches, "source": patches}
    buffers = (Buffer(name, (images, width), "int32") for name, width in names.items())
    shows = Buffer("shows", (images, patches, patches), dtype)
    launch = draw_corruption(Buffer("keys", (5, 2), "uint32"), 1, *buffers, shows)
    found = run(launch, {"keys": noise_keys(7, 3, 40, 4)}, CORRUPTION)
    np.testing.assert_array_equal(found["chosen"], expected.chosen)
    np.testing.assert_array_equal(found["source"], expected.source)
    np.testing.assert_array_equal(found["shows"], expected.source[:, :, None] == np.arange(patches))
    for b in range(images):
        np.testing.assert_array_equal(found["places"][b, expected.chosen[b]], np.arange(n))
        assert sorted(found["places"][b]) == list(range(patches))


@settings(max_examples=30)
@given(
    side=st.sampled_from([1, 4]),
    length=st.integers(1, 9),
    channels=st.integers(1, 4),
    count=st.integers(1, 20),
    seed=seeds(),
)
def test_colours_are_those_of_the_reference(side, length, channels, count, seed):
    rng, P = np.random.default_rng(seed), side * length
    pixels = rng.integers(0, 256, (count, P, P, channels)) + rng.integers(-300, 300, (count, 1, 1, channels))
    images = ((np.clip(pixels, -20, 275) - 127.5) / 127.5).astype(np.float32)  # beyond bytes, too
    config = tiny_config(image_size=P, patch_size=P, channels=channels)
    target = "downsized" if side == 4 else "mean-colour"
    expected = true_patches(config, images, np.zeros((count, 1), int), target)
    classes = Buffer("classes", (count * side * side,), "int32")
    launch = colour_classes(Buffer("patches", (count, P * P * channels)), classes, side, P)
    found = run(launch, {"patches": images}, TARGETS)["classes"]
    np.testing.assert_array_equal(found, expected.reshape(-1))


@settings(max_examples=30)
@given(shape=st.tuples(st.integers(1, 30), st.sampled_from([1, 12, 300])), dtype=storage(), seed=seeds())
def test_the_error_of_pixels_is_that_of_the_reference(shape, dtype, seed):
    rng, (R, C) = np.random.default_rng(seed), shape
    y, truth, bias = normal(rng, dtype, R, C), normal(rng, "float32", R, C), normal(rng, "float32", C)
    P = cross_entropy_partials(R)
    launch = squared_error(
        Buffer("y", shape, dtype),
        Buffer("bias", (C,)),
        Buffer("truth", shape),
        0.3,
        Buffer("losses", (P,)),
        Buffer("dy", shape, dtype),
        Buffer("partials", (P, C)),
    )
    found = run(launch, {"y": y, "truth": truth, "bias": bias}, TARGETS)
    loss, cache = ops.squared_error(y.astype(np.float64) + bias, truth.astype(np.float64))
    expected = ops.squared_error_backward(cache) * 0.3
    rounding = 1e-6 * np.sqrt(loss)  # of a small difference d of numbers near 1: d^2 is off by 2 d 2^-22
    np.testing.assert_allclose(found["losses"].sum(), loss * 0.3, rtol=1e-5, atol=rounding)
    assert_agrees(found["dy"], expected, dtype)
    assert_agrees(found["partials"].sum(axis=0), expected.sum(axis=0), scale=1)
