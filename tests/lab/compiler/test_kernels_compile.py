"""Every CUDA kernel compiles for every generation of cards, on a machine without a GPU.

What is compiled is not thereby right: see tests/engine/cuda. The registers of each are printed by
python -m tests.lab.compiler.compiled_kernels.
"""

from math import prod

import pytest

from tests.lab.compiler.compiled_kernels import (
    ARCHITECTURES,
    INSTANCES,
    KERNELS,
    compile_kernel,
    kernels,
    missing_package,
    usage,
)
from tests.lab.compiler.occupancy import occupancy
from tinyvit.engine.cuda.launch import Launch
from tinyvit.engine.cuda.plan import Options, plan_step
from tinyvit.model import preset

# One address, which each thread of `augment` puts aside while a subroutine divides.
SPILLED = {("augment.cu", 120): 8}

needs_nvrtc = pytest.mark.skipif(
    missing_package() is not None,
    reason=f"compiling kernels without a GPU needs {missing_package()}: "
    "pip install cupy-cuda12x nvidia-cuda-nvrtc-cu12 nvidia-cuda-runtime-cu12",
)


def test_every_kernel_file_is_compiled_here():
    assert {path.name for path in kernels()} == set(INSTANCES)


@needs_nvrtc
@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("path", kernels(), ids=lambda path: path.name)
def test_a_kernel_compiles_and_keeps_its_numbers_in_registers(compiled, path, architecture):
    found = compiled[f"{path.name} sm_{architecture}"]
    assert found["is_machine_code"]
    assert len(found["registers"]) == len(INSTANCES[path.name])
    assert max(found["spilled"]) <= SPILLED.get((path.name, architecture), 0)


@needs_nvrtc
@pytest.mark.parametrize("architecture", ARCHITECTURES[1:])
@pytest.mark.parametrize(("file", "kernel"), [("gelu", "bias_gelu"), ("layer_norm", "layer_norm_backward")])
def test_blocks_that_share_all_rows_run_at_the_same_time(file, kernel, architecture):
    """Otherwise the last of them would begin when the first have finished."""
    steps = plan_step(preset("Ti/4", 32, 10), 512, Options("bf16", multiprocessors=100)).steps
    launches = {
        step.function: step for step in steps if isinstance(step, Launch) and step.function.startswith(kernel)
    }
    for function, launch in launches.items():
        _, log, _ = compile_kernel(KERNELS / f"{file}.cu", architecture, [function])
        used = {name: numbers[0] for name, numbers in usage(log).items()}
        blocks, _ = occupancy(architecture, prod(launch.block), used["registers"], used["shared"])
        assert prod(launch.grid) <= 100 * blocks, function


@needs_nvrtc
def test_a_kernel_with_a_mistake_does_not_compile(tmp_path):
    broken = tmp_path / "broken.cu"
    broken.write_text("__global__ void f(float* x) { x[0] = missing; }", "utf-8")
    with pytest.raises(AssertionError, match="missing"):
        compile_kernel(broken, 80, [])


@pytest.mark.parametrize(
    ("architecture", "threads", "registers", "shared", "blocks", "warps"),
    [
        (80, 256, 64, 0, 4, 32),  # limited by registers: 4 blocks of 8 warps of 2,048
        (90, 160, 91, 34_560, 4, 20),  # by registers, 96 a thread as they are given out
        (90, 128, 16, 75_000, 3, 12),  # by shared memory
        (75, 32, 16, 0, 16, 16),  # by the number of blocks
    ],
)
def test_occupancy(architecture, threads, registers, shared, blocks, warps):
    assert occupancy(architecture, threads, registers, shared) == (blocks, warps)
