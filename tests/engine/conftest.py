"""Compiling all kernels for all cards takes a minute: it is done beside the other tests."""

from tests.engine.compiled_kernels import missing_package


def pytest_collection_finish(session):
    wanted = any(item.path.name == "test_kernels_compile.py" for item in session.items)
    if wanted and not session.config.option.collectonly and missing_package() is None:
        session.config.beside.start("kernels", "-m", "tests.engine.compiled_kernels")
