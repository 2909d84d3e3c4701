"""The stand-in's streams, graphs and products do what CuPy's and cuBLAS's do, and refuse what they refuse."""

import ctypes

import numpy as np
import pytest

from lessons.cuda_on_cpu import NoCompiler
from lessons.cuda_on_cpu.compiler import compiler
from tests.bfloat16 import from_bf16, to_bf16
from tests.stand_in import DeviceArray
from tests.stand_in_cuda import CudaStandIn, FakeCublas

CODE = """
extern "C" __global__ void add(float* x, const float* y, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) x[i] += y[i];
}
"""


@pytest.fixture
def a_compiler():
    """Skip the test where there is none."""
    try:
        compiler()
    except NoCompiler as error:
        pytest.skip(str(error))


@pytest.fixture
def xp():
    yield CudaStandIn()
    DeviceArray.capturing = False


def add(xp, x, y):
    kernel = xp.RawModule(code=CODE, options=("-std=c++17",)).get_function("add")
    kernel((1,), (32,), (x, y, np.int32(x.size)))


@pytest.mark.usefixtures("a_compiler")
def test_a_graph_runs_at_its_launch_with_the_numbers_that_are_then_there(xp):
    x, y = xp.zeros(5, dtype="float32"), xp.ones(5, dtype="float32")
    stream = xp.cuda.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
        add(xp, x, y)
        add(xp, x, y)
        graph = stream.end_capture()
    assert x.get().tolist() == [0] * 5
    y.fill(10)
    graph.launch()
    graph.launch(stream=stream)
    assert x.get().tolist() == [40] * 5


@pytest.mark.usefixtures("a_compiler")
def test_only_the_captured_stream_is_captured(xp):
    x, y = xp.zeros(5, dtype="float32"), xp.ones(5, dtype="float32")
    stream = xp.cuda.Stream(non_blocking=True)
    stream.begin_capture()
    add(xp, x, y)  # on the default stream
    with stream:
        add(xp, x, y)
    stream.end_capture()
    assert x.get().tolist() == [1] * 5


@pytest.mark.usefixtures("a_compiler")
def test_a_graph_does_not_keep_its_arrays(xp):
    x, y = xp.zeros(5, dtype="float32"), xp.ones(5, dtype="float32")
    stream = xp.cuda.Stream()
    with stream:
        stream.begin_capture()
        add(xp, x, y[:4].reshape(4))
        graph = stream.end_capture()
    graph.launch()
    del y
    with pytest.raises(RuntimeError, match="an array that has been deleted"):
        graph.launch()


@pytest.mark.usefixtures("a_compiler")
def test_a_kernel_takes_no_array_of_the_host(xp):
    with pytest.raises(TypeError):
        add(xp, xp.zeros(5, dtype="float32"), np.ones(5, np.float32))


@pytest.mark.parametrize(
    "act",
    [
        lambda xp, x: x.get(),
        lambda xp, x: float(x[0]),
        lambda xp, x: x + x,
        lambda xp, x: xp.zeros(3),
        lambda xp, x: xp.asarray([1.0]),
        lambda xp, x: xp.add(x, x, out=x),
        lambda xp, x: x.fill(1),
        lambda xp, x: x.__setitem__(0, x[1]),
        lambda xp, x: x.__iadd__(x),
        lambda xp, x: x.set(np.zeros(4, np.float32)),
        lambda xp, x: xp.cuda.get_current_stream().synchronize(),
    ],
)
def test_what_a_graph_cannot_hold_is_refused_while_capturing(xp, act):
    x = xp.zeros(4, dtype="float32")
    act(xp, x)
    with xp.cuda.Stream() as stream:
        stream.begin_capture()
        assert stream.is_capturing()
        x[:2].reshape(2, 1)  # a view is no work
        with pytest.raises(RuntimeError, match="while a stream is captured"):
            act(xp, x)
        stream.end_capture()
    act(xp, x)


def test_the_default_stream_cannot_be_captured(xp):
    with pytest.raises(RuntimeError):
        xp.cuda.get_current_stream().begin_capture()
    with pytest.raises(RuntimeError):
        xp.cuda.Stream().end_capture()


def test_set_copies_what_fits(xp):
    x = xp.zeros((2, 2), dtype="float32")
    x.set(np.ones((2, 2), np.float32), xp.cuda.get_current_stream())
    assert x.get().sum() == 4
    with pytest.raises(TypeError):
        x.set(np.ones((2, 2)))
    with pytest.raises(ValueError):
        x.set(np.ones(4, np.float32))


class Blas:
    """A handle of the fake library, with a workspace."""

    def __init__(self, xp, stream=0):
        self.library, self.handle = FakeCublas(xp.queue), ctypes.c_void_p()
        assert self.library.cublasCreate_v2(ctypes.byref(self.handle)) == 0
        assert self.library.cublasSetStream_v2(self.handle, ctypes.c_void_p(stream)) == 0
        self.workspace = np.empty(4 << 20, np.uint8)
        address, size = ctypes.c_void_p(self.workspace.ctypes.data), ctypes.c_size_t(4 << 20)
        assert self.library.cublasSetWorkspace_v2(self.handle, address, size) == 0

    def gemm(self, a, b, c, ta=0, tb=0, alpha=1.0, beta=0.0, compute=68, ldc=None):
        """a, b and c are Fortran-ordered arrays."""
        rows, columns = c.shape
        inner = a.shape[0] if ta else a.shape[1]
        kinds = {"float32": 0, "uint16": 14}
        one, other, result = (
            (ctypes.c_void_p(x.ctypes.data), kinds[x.dtype.name], x.strides[1] // x.itemsize)
            for x in (a, b, c)
        )
        alpha, beta = (ctypes.byref(ctypes.c_float(number)) for number in (alpha, beta))
        return self.library.cublasGemmEx(
            *(self.handle, ta, tb, rows, columns, inner),
            *(alpha, *one, *other),
            *(beta, *result[:2], ldc or result[2], compute, -1),
        )


def matrices(*shapes, seed=0):
    rng = np.random.default_rng(seed)
    return [np.asfortranarray(rng.normal(size=shape).astype(np.float32)) for shape in shapes]


@pytest.mark.parametrize("ta", [0, 1])
@pytest.mark.parametrize("tb", [0, 1])
@pytest.mark.parametrize("beta", [0.0, 1.0])
def test_products_are_those_of_columns(xp, ta, tb, beta):
    a, b, c = matrices((4, 3) if ta else (3, 4), (5, 4) if tb else (4, 5), (3, 5))
    if beta == 0:
        c[...] = np.nan  # it is not read
    expected = 2 * (a.T if ta else a) @ (b.T if tb else b) + (c if beta else 0)
    assert Blas(xp).gemm(a, b, c, ta, tb, 2.0, beta) == 0
    np.testing.assert_allclose(c, expected, rtol=1e-5, atol=1e-5)


def test_a_part_of_a_larger_matrix(xp):
    a, b, c = matrices((7, 4), (6, 5), (9, 5))
    expected = c.copy()
    expected[2:5] = a[1:4] @ b[:4]
    assert Blas(xp).gemm(a[1:4], b[:4], c[2:5]) == 0
    np.testing.assert_allclose(c, expected, rtol=1e-5, atol=1e-5)


def test_bfloat16_factors(xp):
    a, b = (np.asfortranarray(to_bf16(x)) for x in matrices((3, 40), (40, 5)))
    exact = from_bf16(a) @ from_bf16(b)
    c, halves = np.zeros((3, 5), np.float32, "F"), np.zeros((3, 5), np.uint16, "F")
    assert Blas(xp).gemm(a, b, c) == 0
    np.testing.assert_allclose(c, exact, rtol=1e-5, atol=1e-5)
    assert Blas(xp).gemm(a, b, halves) == 0
    np.testing.assert_array_equal(halves, to_bf16(c))


def test_tf32_is_for_those_who_ask(xp):
    a, b = np.full((1, 1), 1 + 2**-12, np.float32), np.ones((1, 1), np.float32)
    blas, c = Blas(xp), np.zeros((1, 1), np.float32)
    for compute, math, expected in ((68, 0, a[0, 0]), (77, 0, 1), (68, 3, 1), (69, 3, a[0, 0])):
        blas.library.cublasSetMathMode(blas.handle, math)
        assert blas.gemm(a, b, c, compute=compute) == 0
        assert c[0, 0] == expected


def test_products_are_captured_with_their_stream(xp):
    stream = xp.cuda.Stream()
    a, b, c = matrices((3, 4), (4, 5), (3, 5))
    c[...] = 0
    blas = Blas(xp, stream.ptr)
    stream.begin_capture()
    assert blas.gemm(a, b, c, beta=1) == 0
    graph = stream.end_capture()
    assert not c.any()
    graph.launch()
    graph.launch()
    np.testing.assert_allclose(c, 2 * a @ b, rtol=1e-5, atol=1e-5)


def test_what_cublas_refuses(xp):
    a, b, c = matrices((3, 4), (4, 5), (3, 5))
    blas = Blas(xp)
    assert blas.gemm(a, b, c, ldc=2) == 7
    assert blas.gemm(np.asfortranarray(to_bf16(a)), b, c) == 15
    assert blas.gemm(a, b, c, compute=64) == 15
    blas.library.cublasSetStream_v2(blas.handle, 0)  # and with it the workspace is lost
    assert blas.gemm(a, b, c) == 15
    assert blas.library.cublasDestroy_v2(blas.handle) == 0
    assert blas.gemm(a, b, c) == 1
