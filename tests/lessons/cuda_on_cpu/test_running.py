"""Kernels that are right give what NumPy gives, whatever the order of threads."""

import numpy as np
import pytest

from lessons.cuda_on_cpu import RawModule
from tests.bfloat16 import from_bf16, to_bf16
from tests.lessons.cuda_on_cpu.kernels import LAYER_NORM, SMALL
from tinyvit.ops.layer_norm import layer_norm


@pytest.fixture(scope="module")
def small():
    names = ["block_sums<32>", "block_sums<96>", "reverse<float>", "to_bf16", "product", "lanes", "count"]
    return RawModule(code=SMALL, name_expressions=[*names, "votes", "unpack<3>"])


def test_layer_norm_is_that_of_the_reference():
    rows, width = 37, 70
    name = "layer_norm<float, 3>"
    module = RawModule(code=LAYER_NORM, name_expressions=[name])
    rng = np.random.default_rng(1)
    x = rng.normal(2, 3, (rows, width)).astype(np.float32)
    weight, bias = rng.normal(size=(2, width)).astype(np.float32)
    y, n, r = np.zeros_like(x), np.zeros_like(x), np.zeros(rows, np.float32)
    args = (x, weight, bias, y, n, r, np.int32(rows), np.int32(width), np.float32(1e-6))
    module.get_function(name)((10,), (128,), args)
    expected, (normal, scale, _) = layer_norm(x.astype(np.float64), weight, bias)
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(n, normal, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(r, scale.ravel(), rtol=1e-5)


@pytest.mark.parametrize("threads", [32, 96])
def test_shared_memory_and_barriers(small, threads):
    x = np.arange(5 * threads, dtype=np.float32)
    sums = np.zeros(5, np.float32)
    small.get_function(f"block_sums<{threads}>")((5,), (threads,), (x, sums))
    np.testing.assert_array_equal(sums, x.reshape(5, threads).sum(axis=1))


def test_shared_memory_whose_size_the_launch_decides(small):
    x = np.arange(40, dtype=np.float32)
    y = np.zeros_like(x)
    small.get_function("reverse<float>")((1, 1, 1), (8, 5), (x, y), shared_mem=160)
    np.testing.assert_array_equal(y, x[::-1])


def test_bfloat16_rounds_to_the_nearest_and_halves_to_even(small):
    bits = np.random.default_rng(2).integers(0, 2**32, 4000, dtype=np.uint32)
    bits[:4] = 0x3F808000, 0x3F818000, 0x7F7FFFFF, 0x7F800000  # two halves, the largest number, infinity
    x = bits.view(np.float32)
    y = np.zeros(x.size, np.uint16)
    small.get_function("to_bf16")((-(-x.size // 64),), (64,), (x, y, np.int32(x.size)))
    number = ~np.isnan(x)
    np.testing.assert_array_equal(y[number], to_bf16(x[number]))
    assert np.isnan(from_bf16(y[~number])).all()


def test_a_product_of_tiles_has_the_layout_of_ptx(small):
    rng = np.random.default_rng(3)
    a, b = to_bf16(rng.normal(size=(16, 16))), to_bf16(rng.normal(size=(16, 8)))
    c = rng.normal(size=(16, 8)).astype(np.float32)
    d = np.zeros_like(c)
    small.get_function("product")((1,), (32,), (a, b, c, d))
    np.testing.assert_allclose(d, from_bf16(a) @ from_bf16(b) + c, rtol=1e-5, atol=1e-5)


def test_shuffles_stay_in_their_segments(small):
    found = np.zeros((7, 32), np.int32)
    small.get_function("lanes")((1,), (32,), (found,))
    lane = np.arange(32)
    segment = lane // 8 * 8
    np.testing.assert_array_equal(found[0], segment + 3)  # __shfl_sync of lane 11, of 8
    np.testing.assert_array_equal(found[1], np.where(lane - 2 >= segment, lane - 2, lane))
    np.testing.assert_array_equal(found[2], np.where(lane + 2 < segment + 8, lane + 2, lane))
    np.testing.assert_array_equal(found[3], lane ^ 5)
    np.testing.assert_array_equal(found[4], np.where(lane < 16, 120, 376))  # each half with its mask
    np.testing.assert_array_equal(found[5], lane ^ 28)  # the lowest five bits of -4
    np.testing.assert_array_equal(found[6], np.where(lane < 30, lane + 2, lane))


def test_votes(small):
    found = np.zeros(6, np.uint32)
    small.get_function("votes")((1,), (32,), (found,))
    assert found.tolist() == [0x11111111, 1, 0, 31 * 16, 31, 0x88888888]


def test_atomics_count_everybody(small):
    counts, total = np.zeros(3, np.int32), np.zeros(1, np.float32)
    small.get_function("count")((4,), (75,), (counts, total))
    assert counts.tolist() == [100, 100, 100]
    assert total[0] == 150


@pytest.mark.parametrize("bounds", ["64", "32 * (1 + 1), (2)"])
def test_extern_c_needs_no_name_expression(bounds):
    code = 'extern "C" __global__ void\n__launch_bounds__(BOUNDS) one(int* x) { x[threadIdx.x] = 1; }'
    module = RawModule(code=code.replace("BOUNDS", bounds))
    x = np.zeros(3, np.int32)
    module.get_function("one")((1,), (3,), (x,))
    assert x.tolist() == [1, 1, 1]


def test_conversions_to_int_stop_at_the_ends_and_take_0_for_nan():
    code = """extern "C" __global__ void convert(const float* x, int* y) {
        const float value = x[threadIdx.x];
        y[3 * threadIdx.x] = __float2int_rd(value);
        y[3 * threadIdx.x + 1] = __float2int_rn(value);
        y[3 * threadIdx.x + 2] = __float2int_rz(value);
    }"""
    x = np.array([-2.5, 1.5, 2147483520, 2**31, np.inf, -(2**31), -3e9, -np.inf, np.nan], np.float32)
    y = np.zeros((9, 3), np.int32)
    RawModule(code=code).get_function("convert")((1,), (9,), (x, y))
    most, least = 2**31 - 1, -(2**31)
    assert y[:2].tolist() == [[-3, -2, -2], [1, 2, 1]]
    assert y[:, 1].tolist() == [-2, 2, 2147483520, most, most, least, least, least, 0]
    assert (y[2:, [0, 2]] == y[2:, 1:2]).all()


def test_included_files_and_definitions(tmp_path):
    (tmp_path / "common.cuh").write_text(
        "__device__ inline float twice(float x) {\n"
        "    __shared__ float kept[2];\n    kept[0] = x;\n    return 2 * kept[0];\n}"
    )
    code = '#include "common.cuh"\nextern "C" __global__ void go(float* x) { x[0] = twice(x[0]) + EXTRA; }'
    x = np.array([4], np.float32)
    module = RawModule(code=code, options=("-std=c++17", f"-I{tmp_path}", "-DEXTRA=1"))
    module.get_function("go")((1,), (1,), (x,))
    assert x[0] == 9
    (tmp_path / "common.cuh").write_text("__device__ inline float twice(float x) { return -x; }")
    module = RawModule(code=code, options=("-std=c++17", "-I", str(tmp_path), "-DEXTRA=1"))
    module.get_function("go")((1,), (1,), (x,))
    assert x[0] == -8  # what is included counts, not only the kernel's own text
