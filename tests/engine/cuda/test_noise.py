"""The random numbers of the kernels are those of the reference to the bit, and the masks drop the same."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lessons.cuda_on_cpu import NoCompiler, RawModule
from tests.engine.cuda.run import KERNELS
from tests.helpers import seeds
from tinyvit.engine.cuda.calls.noise import Mask, mask_arguments, noise_keys
from tinyvit.engine.cuda.launch import Buffer
from tinyvit.ops import Noise, drop_path, dropout

CODE = """
#include "noise.cuh"

__global__ void numbers(const unsigned* keys, int site, float* out, int elements) {
    const unsigned image = blockIdx.x;
    for (int e = threadIdx.x; e < elements; e += blockDim.x)
        out[image * elements + e] = uniform(keys, site, image, e);
}

__global__ void masks(const unsigned* keys, float dropout_rate, int dropout_site, float path_rate,
                      int path_site, int tokens, float* out, int width) {
    const int row = blockIdx.x;
    const RowMask mask(keys, dropout_rate, dropout_site, path_rate, path_site, tokens, row, width);
    for (int c = threadIdx.x; c < width; c += blockDim.x) out[row * width + c] = mask(c);
}
"""


@pytest.fixture(scope="module")
def kernel():
    """A function from the name of a kernel above to the kernel."""
    names = ("numbers", "masks")
    module = RawModule(code=CODE, options=("-std=c++17", f"-I{KERNELS}"), name_expressions=names)
    try:
        module.get_function("masks")
    except NoCompiler as error:
        pytest.skip(str(error))
    return module.get_function


steps = st.tuples(seeds(), st.integers(1, 10**6), st.integers(0, 5000))  # seed, step, first image
shapes = st.tuples(st.integers(1, 5), st.integers(1, 6), st.integers(1, 40))  # images, tokens, width


@settings(max_examples=40)
@given(step=steps, shape=shapes, draws=st.integers(1, 4))
def test_the_numbers_are_those_of_the_reference(kernel, step, shape, draws):
    keys, noise = noise_keys(*step, draws), Noise(*step)
    out = np.empty(shape, np.float32)
    for site in range(draws):
        expected = noise.uniform(shape, np)
        elements = shape[1] * shape[2]
        kernel("numbers")((shape[0],), (64,), (keys, np.int32(site), out, np.int32(elements)))
        np.testing.assert_array_equal(out, expected)


@settings(max_examples=40)
@given(
    step=steps,
    shape=shapes,
    dropout_rate=st.sampled_from([0, 0.1, 0.5]),
    path_rate=st.sampled_from([0, 0.3]),
)
def test_a_mask_is_that_of_dropout_and_then_stochastic_depth(kernel, step, shape, dropout_rate, path_rate):
    images, tokens, width = shape
    keys, noise = noise_keys(*step, 2), Noise(*step)
    ones = np.ones(shape, np.float32)
    expected, _ = drop_path(dropout(ones, dropout_rate, noise)[0], path_rate, noise)
    path_site = 1 if dropout_rate else 0  # the reference draws nothing at a rate of 0

    mask = Mask(dropout_rate, 0, path_rate, path_site, tokens, Buffer("keys", keys.shape, "uint32"))
    out = np.empty(shape, np.float32)
    arguments = (keys, *typed(mask), out, np.int32(width))
    kernel("masks")((images * tokens,), (64,), arguments)
    np.testing.assert_array_equal(out == 0, expected == 0)
    np.testing.assert_allclose(out, expected, rtol=3e-7)


def typed(mask):
    """The arguments of a mask after its keys, as the kernel's parameters."""
    types = (np.float32, np.int32, np.float32, np.int32, np.int32)
    return [type_(number) for type_, number in zip(types, mask_arguments(mask)[1:], strict=True)]


def test_without_a_mask_everything_is_kept(kernel):
    out = np.zeros((4, 50), np.float32)
    kernel("masks")((4,), (64,), (None, *typed(None), out, np.int32(50)))
    assert (out == 1).all()


def test_a_mask_reads_the_keys_of_what_it_draws():
    keys = Buffer("keys", (4, 2), "uint32")
    assert Mask(0, 0, 0, 0, 5, keys).reads == ()
    both = Mask(0.1, 2, 0.2, 0, 5, keys).reads
    assert [(buffer.start, buffer.size) for buffer in both] == [(0, 1), (6, 2), (2, 2)]
