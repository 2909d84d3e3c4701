"""What the tests of engines share."""

import json

import pytest

from tests.engine.compiled_kernels import missing_package
from tinyvit.engine import CpuEngine


@pytest.fixture(scope="module", autouse=True)
def _small_models_are_computed_as_large_ones():
    """The CPU engine folds the blocks however few tokens there are, and has all threads take part in it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CpuEngine, "least_tokens_to_fold", 0)
        patch.setattr(CpuEngine, "least_tokens_to_infer_folded", 0)
        patch.setattr(CpuEngine, "least_bytes_to_spread", 0)
        yield


def pytest_collection_finish(session):
    """Compiling all kernels for all cards takes a minute: it is done beside the other tests."""
    wanted = any(
        item.path.name in ("test_kernels_compile.py", "test_machine_code.py") for item in session.items
    )
    if wanted and not session.config.option.collectonly and missing_package() is None:
        session.config.beside.start("kernels", "-m", "tests.engine.compiled_kernels")


@pytest.fixture(scope="session")
def compiled(pytestconfig):
    """What the compiler said of every kernel for every architecture, and some of its code."""
    status, printed, report = pytestconfig.beside.result("kernels")
    assert status == 0, printed
    return json.loads(report)
