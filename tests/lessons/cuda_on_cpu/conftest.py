"""These tests need a C++ compiler."""

import pytest

from lessons.cuda_on_cpu import NoCompiler
from lessons.cuda_on_cpu.compiler import compiler


@pytest.fixture(scope="session", autouse=True)
def a_compiler():
    """Skip them where there is none."""
    try:
        compiler()
    except NoCompiler as error:
        pytest.skip(str(error))
