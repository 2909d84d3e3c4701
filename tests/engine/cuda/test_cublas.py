"""Products by cuBLAS: rows for columns, types, and memory of its own."""

import os
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.stand_in import StandIn
from tests.stand_in_cuda import FakeCublas, Queue
from tinyvit.engine.cuda import cublas
from tinyvit.engine.cuda.cublas import Cublas, CublasError
from tinyvit.engine.cuda.launch import Buffer, Product

sizes = st.integers(1, 9)


def handle(precision="fp32"):
    return Cublas(precision, StandIn().asarray(np.empty(4 << 20, np.uint8)), FakeCublas(Queue()))


def bf16(x):
    return (x.view(np.uint32) >> 16).astype(np.uint16)


@given(
    rows=sizes,
    inner=sizes,
    columns=sizes,
    transpose_a=st.booleans(),
    transpose_b=st.booleans(),
    accumulate=st.booleans(),
    stack=st.sampled_from([(), (1,), (3,)]),
)
def test_a_product_is_that_of_the_matrices_or_stacks_of_them_stored_row_by_row(
    rows, inner, columns, transpose_a, transpose_b, accumulate, stack
):
    rng = np.random.default_rng(0)
    a, b, c = (
        rng.standard_normal((*stack, *shape)).astype(np.float32)
        for shape in ((rows, inner), (inner, columns), (rows, columns))
    )
    expected = a @ b + accumulate * c
    a, b = (
        np.ascontiguousarray(x.swapaxes(-1, -2)) if t else x for x, t in ((a, transpose_a), (b, transpose_b))
    )
    product = Product(
        *(Buffer(name, x.shape) for name, x in zip("abc", (a, b, c), strict=True)),
        transpose_a,
        transpose_b,
        accumulate,
    )
    ours = handle()
    ours.use(0)
    ours.multiply(product, a.ctypes.data, b.ctypes.data, c.ctypes.data)
    np.testing.assert_allclose(c, expected, rtol=1e-5, atol=1e-5)


def test_the_sum_of_bfloat16_products_can_stay_float32():
    a, b = (np.full(shape, 1.5, np.float32) for shape in ((3, 2), (3, 5)))
    c = np.full((2, 5), 0.001, np.float32)
    halves = Buffer("a", (3, 2), "bfloat16"), Buffer("b", (3, 5), "bfloat16")
    product = Product(*halves, Buffer("c", (2, 5)), transpose_a=True, accumulate=True)
    ours, halves = handle("bf16"), (bf16(a), bf16(b))
    ours.use(0)
    ours.multiply(product, *(x.ctypes.data for x in halves), c.ctypes.data)
    np.testing.assert_allclose(c, 6.751, rtol=1e-6)


def test_tf32_is_for_products_that_ask_for_it():
    a, b = np.array([1 + 2**-12, 1], np.float32).reshape(2, 1, 1)  # TF32 keeps ten bits after the leading one
    product = Product(*(Buffer(name, (1, 1)) for name in "abc"))
    for precision, expected in (("fp32", 1 + 2**-12), ("tf32", 1)):
        c, ours = np.zeros((1, 1), np.float32), handle(precision)
        ours.use(0)
        ours.multiply(product, a.ctypes.data, b.ctypes.data, c.ctypes.data)
        assert c[0, 0] == expected


def test_an_error_says_which_product_it_was():
    ours = handle()  # told no stream, and so without its workspace
    with pytest.raises(CublasError, match=r"blocks\.3\.qkv failed with status 15"):
        product = Product(*(Buffer(name, (1, 1)) for name in "abc"), label="blocks.3.qkv")
        x = np.ones(1, np.float32)
        ours.multiply(product, *[x.ctypes.data] * 3)


def test_without_the_library_one_line_says_what_to_install(monkeypatch):
    for search in ("_by_pathfinder", "_by_name"):
        monkeypatch.setattr(cublas, search, lambda: None)
    with pytest.raises(CublasError, match="pip install nvidia-cublas-cu12"):
        cublas.load_library()


def test_parts_of_a_sum_are_float32_too():
    library = FakeCublas(Queue())
    ours = Cublas("bf16", StandIn().asarray(np.empty(4 << 20, np.uint8)), library)
    assert library.handles[ours._handle.value]["math"] == 16


def test_of_several_versions_the_one_that_is_loaded_already_is_taken(monkeypatch):
    """CuPy has loaded it: another one may need a newer driver."""

    def load(name, mode):
        if mode == getattr(os, "RTLD_NOLOAD", -1) and "12" not in name:
            raise OSError
        return name, mode

    monkeypatch.setattr(cublas, "_by_pathfinder", lambda: None)
    monkeypatch.setattr(cublas.ctypes, "CDLL", load)
    name, _ = cublas.load_library()
    assert "12" in name if hasattr(os, "RTLD_NOLOAD") else "13" in name


def test_a_library_that_is_found_and_does_not_load_is_not_there(monkeypatch):
    def fails(*_):
        raise OSError("libcublasLt.so.12: cannot open shared object file")

    found = SimpleNamespace(load_nvidia_dynamic_lib=lambda _: SimpleNamespace(abs_path="/x/libcublas.so.12"))
    monkeypatch.setitem(sys.modules, "cuda.pathfinder", found)
    monkeypatch.setattr(cublas.ctypes, "CDLL", fails)
    with pytest.raises(CublasError, match="cuBLAS library is not found"):
        cublas.load_library()


def test_this_machine_is_searched_without_an_error():
    try:
        cublas.load_library()
    except CublasError as error:
        assert "\n" not in str(error)
