"""Compiles all kernels for all cards, which takes a minute: CI does, and `pytest tests/lab/compiler`."""

import pytest

from tests.lab.compiler.compiled_kernels import compile_all


@pytest.fixture(scope="session")
def compiled():
    """The compiler's report on every kernel for every architecture, and some of its code."""
    return compile_all()
