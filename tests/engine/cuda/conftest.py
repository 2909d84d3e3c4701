"""The setup of the CUDA engine's tests; with TINYVIT_KERNEL_TESTS=gpu, those of kernels run on a GPU."""

import os

import pytest

from tests.engine.cuda import on_gpu, run
from tests.engine.cuda.engine_cases import instances
from tinyvit.backend import select_device

RUNS_ON_GPU = os.environ.get("TINYVIT_KERNEL_TESTS") == "gpu"
collect_ignore = []
if RUNS_ON_GPU:
    if note := select_device("gpu").note:
        raise RuntimeError(note)
    run.RawModule = on_gpu.RawModule
    # These are about the emulator, a stand-in for CuPy, plans without any device, or (-m gpu) whole steps.
    others = (
        "checked",
        "cublas",
        "cuda_engine",
        "cuda_steps",
        "noise",
        "plan",
        "precision",
        "support",
    )
    collect_ignore = [f"test_{name}.py" for name in others]


def pytest_collection_modifyitems(items):
    """On a GPU nobody watches every access: a test that asks for it is skipped."""
    for item in items:
        if RUNS_ON_GPU and "checking" in item.function.__code__.co_names:
            item.add_marker(pytest.mark.skip(reason="only the CPU watches every access of a kernel"))


@pytest.fixture
def cuda(cuda):
    """The stand-in, with all kernels of the cases compiled at once: starting the compiler takes time."""
    cuda.xp.instances = instances()
    return cuda
