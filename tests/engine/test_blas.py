"""The BLAS that NumPy uses is found. Its number of threads is borrowed, and given back in any order."""

import numpy as np
import pytest

from tinyvit.engine import blas
from tinyvit.engine.cpu import products


@pytest.fixture
def library(monkeypatch):
    """A library with a number of threads, 8, as a list of all the numbers it has had."""
    numbers = [8]
    functions = (lambda: numbers[-1], numbers.append)
    monkeypatch.setattr(blas, "_thread_functions", lambda: functions)
    return numbers


def test_the_number_of_threads_is_what_it_was_before(library):
    with blas.blas_threads(4):
        with blas.blas_threads(1):
            assert library[-1] == 1
        assert library[-1] == 4
    assert library[-1] == 8


def test_it_is_restored_too_if_the_first_to_enter_is_the_first_to_leave(library):
    first, second = blas.blas_threads(1), blas.blas_threads(2)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert library[-1] == 2
    second.__exit__(None, None, None)
    assert library[-1] == 8
    with blas.one_blas_thread():
        assert library[-1] == 1
    assert library[-1] == 8


@pytest.mark.parametrize("number", [8, 1], ids=["as it asks for the number", "as it has set it"])
def test_ctrl_c_on_the_way_in_leaves_the_number_as_it_was(library, monkeypatch, number):
    get, set_ = blas._thread_functions()
    waiting = [number]

    def interrupt():
        if waiting and library[-1] == waiting[0]:
            waiting.clear()
            raise KeyboardInterrupt

    functions = (lambda: (interrupt(), get())[1], lambda count: (set_(count), interrupt()))
    monkeypatch.setattr(blas, "_thread_functions", lambda: functions)
    with pytest.raises(KeyboardInterrupt), blas.blas_threads(1):
        pytest.fail("it was not interrupted")
    assert library[-1] == 8
    with blas.blas_threads(4):
        assert library[-1] == 4
    assert library[-1] == 8


def test_openblas_and_mkl_are_found_wherever_numpy_has_them_from():
    """Without them the engine works too, but slowly, and no other test would notice."""
    built_with = np.show_config(mode="dicts")["Build Dependencies"]["blas"]["name"].lower()
    expected = [name for name in ("openblas", "mkl") if name in built_with]
    if not expected:
        pytest.skip(f"NumPy was built with {built_with} here")
    assert blas.blas_name().lower().startswith(expected[0])
    assert all(products._gemm(dtype) for dtype in "fd")
    with blas.blas_threads(1):
        assert blas._thread_functions()[0]() == 1
