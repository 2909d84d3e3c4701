"""Every CUDA kernel compiles for every generation of cards, on a machine without a GPU: NVRTC needs none.

What is compiled is not thereby right: that takes a GPU. The registers and spills of each are printed with -s.
"""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ARCHITECTURES = (75, 80, 86, 89, 90)  # Turing, Ampere (A100, RTX 30), Ada, Hopper
INSTANCES = {
    "layer_norm.cu": [
        f"layer_norm<{kind}, {n}>" for kind in ("float", "__nv_bfloat16") for n in (2, 6, 12, 24, 32)
    ]
}


@pytest.fixture(scope="module")
def nvrtc():
    """CuPy's binding of the CUDA compiler, and the include folders it needs."""
    for package in ("cupy", "nvidia.cuda_nvrtc", "nvidia.cuda_runtime"):
        try:
            found = importlib.util.find_spec(package)
        except ModuleNotFoundError:
            found = None
        if found is None:
            needed = "cupy-cuda12x nvidia-cuda-nvrtc-cu12 nvidia-cuda-runtime-cu12"
            pytest.skip(f"compiling kernels without a GPU needs {package}: pip install {needed}")
    from cupy.cuda import nvrtc

    return nvrtc


def include_folders():
    import cupy
    import nvidia.cuda_runtime

    runtime = Path(next(iter(nvidia.cuda_runtime.__path__)))
    return [Path(cupy.__file__).parent / "_core/include", runtime / "include"]


def compile_kernel(nvrtc, path, architecture, instances):
    """The machine code, and what the compiler said: a pair (bytes, text)."""
    program = nvrtc.createProgram(path.read_text("utf-8"), path.name, [], [])
    for instance in instances:
        nvrtc.addNameExpression(program, instance)
    options = [
        f"-arch=sm_{architecture}",
        "-std=c++17",
        "--device-as-default-execution-space",
        "--ptxas-options=-v",
    ]
    options += [f"-I{folder}" for folder in include_folders()]
    try:
        nvrtc.compileProgram(program, options)
    except nvrtc.NVRTCError:
        raise AssertionError(nvrtc.getProgramLog(program)) from None
    return nvrtc.getCUBIN(program), nvrtc.getProgramLog(program)


def kernels():
    return sorted((ROOT / "tinyvit/engine/cuda").glob("*.cu"))


def test_every_kernel_file_is_compiled_here():
    assert {path.name for path in kernels()} == set(INSTANCES)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("path", kernels(), ids=lambda path: path.name)
def test_a_kernel_compiles_and_keeps_its_numbers_in_registers(nvrtc, path, architecture):
    code, log = compile_kernel(nvrtc, path, architecture, INSTANCES[path.name])
    assert code[:4] == b"\x7fELF"
    registers = [int(n) for n in re.findall(r"Used (\d+) registers", log)]
    spills = [int(n) for n in re.findall(r"(\d+) bytes spill stores", log)]
    print(f"\n{path.name} sm_{architecture}: registers {registers}, spilled bytes {spills}")
    assert len(registers) == len(INSTANCES[path.name])
    assert max(spills) == 0


def test_a_kernel_with_a_mistake_does_not_compile(nvrtc, tmp_path):
    broken = tmp_path / "broken.cu"
    broken.write_text("__global__ void f(float* x) { x[0] = missing; }", "utf-8")
    with pytest.raises(AssertionError, match="missing"):
        compile_kernel(nvrtc, broken, 80, [])
