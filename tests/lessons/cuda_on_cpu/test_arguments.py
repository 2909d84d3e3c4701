"""Arguments that a GPU would misread are refused, with what the kernel expects."""

import numpy as np
import pytest

from lessons.cuda_on_cpu import LaunchError, RawModule, checking
from tests.lessons.cuda_on_cpu.kernels import SMALL

floats, halves = np.ones(64, np.float32), np.ones(64, np.uint16)
count = np.int32(64)


@pytest.fixture(scope="module")
def to_bf16():
    names = ["to_bf16", "reverse<float>", "unpack<3>"]
    return RawModule(code=SMALL, name_expressions=names).get_function("to_bf16")


@pytest.mark.parametrize(
    "args, message",
    [
        ((floats, halves), "has 3 parameters, and 2 arguments"),
        ((floats, halves, 64), r"expects int32, and 64 is passed as int64; give np.int32\(64\)"),
        ((floats, halves, np.int64(64)), "argument 2: the kernel expects int32, and .* is passed as int64"),
        ((floats, halves, np.uint32(64)), "argument 2: the kernel expects int32"),
        ((floats, halves, np.float32(64)), "argument 2: the kernel expects int32"),
        ((floats, halves, floats), "argument 2: the kernel expects int32, and an array of float32 is none"),
        (floats, "the arguments belong in a tuple"),
        ((floats, floats, count), "argument 1: .* expects a pointer to bfloat16 of 2 bytes, .* has float32"),
        ((floats, halves.view(np.int16), count), "argument 1: .* has int16"),
        ((floats.astype(float), halves, count), "argument 0: .* a pointer to float32, .* has float64"),
        ((floats[::2], halves, count), "argument 0: the array has gaps"),
        ((3, halves, count), "argument 0: the kernel expects a pointer, and 3 is not an array"),
    ],
)
def test_a_wrong_argument(to_bf16, args, message):
    with pytest.raises(TypeError, match=f"to_bf16: .*{message}"):
        to_bf16((1,), (64,), args)


class OnDevice:
    """The interface of a device array: a pointer and facts."""

    def __init__(self, array):
        self.dtype, self.nbytes, self.flags = array.dtype, array.nbytes, array.flags
        self.data = type("MemoryPointer", (), {"ptr": array.ctypes.data})


def test_arrays_can_be_anything_with_a_pointer(to_bf16):
    y = np.zeros(64, np.uint16)
    to_bf16((1,), (64,), (OnDevice(floats), OnDevice(y), count))
    assert (y == 0x3F80).all()


def test_pointers_to_structures_take_any_array(to_bf16):
    """float2 and Numbers<3>, and bool passed by value."""
    x, y = np.arange(3, dtype=np.float32), np.zeros((3, 2), np.float32)
    kernel = to_bf16.module.get_function("unpack<3>")
    kernel((1,), (3,), (x, y, np.bool_(True)))
    assert y.tolist() == [[0, -1], [1, -1], [2, -1]]
    kernel((1,), (3,), (x, y, False))
    assert y[:, 1].tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    "grid, block, shared, message",
    [
        ((1,), (1025,), 0, "no GPU takes"),
        ((1,), (32, 32, 2), 0, "no GPU takes"),
        ((0,), (32,), 0, "no GPU takes"),
        ((1, 65536), (32,), 0, "no GPU takes"),
        ((1,), (8,), 48 * 1024 + 4, "set max_dynamic_shared_size_bytes first"),
    ],
)
def test_launches_that_no_gpu_takes(to_bf16, grid, block, shared, message):
    kernel = to_bf16.module.get_function("reverse<float>")
    with pytest.raises(LaunchError, match=message):
        kernel(grid, block, (floats, floats.copy()), shared_mem=shared)


@pytest.mark.parametrize("grid", [1, (64 / 32,), (1, 1, 1, 1)])
def test_a_grid_is_a_tuple_of_whole_numbers(to_bf16, grid):
    with pytest.raises(TypeError, match=r"grid .*numbers"):
        to_bf16(grid, (64,), (floats, halves, count))


def test_an_array_that_cannot_be_written_is_only_read(to_bf16, tmp_path):
    """A mapped file: writing into it would end Python."""
    np.save(tmp_path / "x.npy", floats)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    y = np.zeros(64, np.uint16)
    with checking():
        to_bf16((1,), (64,), (mapped, y, count))
    assert (y == 0x3F80).all()
    y.flags.writeable = False
    with pytest.raises(TypeError, match="argument 1: the array is read-only"):
        to_bf16((1,), (64,), (floats, y, count))


def test_more_shared_memory_for_those_who_ask(to_bf16):
    kernel = to_bf16.module.get_function("reverse<float>")
    kernel.max_dynamic_shared_size_bytes = 100 * 1024
    y = np.zeros(64, np.float32)
    kernel((1,), (64,), (np.arange(64, dtype=np.float32), y), shared_mem=100 * 1024)
    assert y[0] == 63
