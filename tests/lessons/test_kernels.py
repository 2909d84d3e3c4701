"""The checks of kernels: what the emulator finds is told as a fault of its kind, with the learner's names."""

import importlib
import re
import types

import numpy as np
import pytest

from lessons.referee import Fault, kernel_text
from tests.lessons.course import LESSONS, can_run

running = importlib.import_module("lessons.28_kernels.running")
LESSON = next(lesson for lesson in LESSONS if lesson.name == "28_kernels")
needs_compiler = pytest.mark.skipif(not can_run(LESSON.name), reason="there is no C++ compiler")

FAULTY = r"""
extern "C" __global__ void beyond(const float* x, float* y) { y[threadIdx.x + 1] = x[threadIdx.x]; }
extern "C" __global__ void one_place(const float* x, float* y) { y[0] = x[threadIdx.x]; }
extern "C" __global__ void unwritten(const float* x, float* y) {
    __shared__ float all[64];
    y[threadIdx.x] = all[threadIdx.x];
}
extern "C" __global__ void too_early(const float* x, float* y) {
    __shared__ float all[64];
    all[threadIdx.x] = 0;
    __syncthreads();
    all[threadIdx.x] = x[threadIdx.x];
    y[threadIdx.x] = all[63 - threadIdx.x];
}
extern "C" __global__ void lanes_leave(const float* x, float* y) {
    if (threadIdx.x % 32 > 20) return;
    y[threadIdx.x] = __shfl_xor_sync(0xffffffff, x[threadIdx.x], 16);
}
extern "C" __global__ void some_wait(const float* x, float* y) {
    if (threadIdx.x < 32) __syncthreads();
    y[threadIdx.x] = x[threadIdx.x];
}
"""


@needs_compiler
@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("beyond", "bounds", "nearest is y, "),
        ("one_place", "race", "writes number 0 of y "),
        ("unwritten", "uninitialised", "nobody has written"),
        ("too_early", "race", "of all in shared memory"),
        ("lanes_leave", "waiting", "shuffle"),
        ("some_wait", "waiting", "__syncthreads"),
    ],
)
def test_what_the_emulator_finds_is_a_fault_of_its_kind(name, kind, said):
    kernel = running.compiled(FAULTY, name)
    with pytest.raises(Fault) as found:
        kernel((1,), (64,), x=np.ones(64, np.float32), y=np.zeros(64, np.float32))
    assert found.value.kind == kind
    assert said in str(found.value)


def answer(text):
    """A learner's module with one kernel of this text."""

    def twice_kernel():
        return text

    module = types.ModuleType("exercise")
    module.twice_kernel = twice_kernel
    return module


@needs_compiler
@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        (None, "count", "twice_kernel returns None, expected the text of a kernel"),
        ('extern "C" __global__ void twise(float* x) {}', "count", "the text has no kernel"),
        ('extern "C" __global__ void twice(float* x) { flot i; }', "compile", "flot"),
        ('extern "C" __global__ void twice(float* x) {\n int i = 1\n int k; }', "compile", "';'|line above"),
    ],
    ids=["nothing", "another name", "a misspelt type", "a missing semicolon"],
)
def test_a_text_that_is_no_kernel(text, kind, said):
    with pytest.raises(Fault) as found:
        running.kernel(answer(text), "twice")
    assert found.value.kind == kind
    assert re.search(said, str(found.value))
    assert "\n" not in str(found.value)


def test_the_kernels_of_the_lessons_are_those_of_a_gpu_too():
    """NVRTC, NVIDIA's compiler, needs no GPU."""
    nvrtc = pytest.importorskip("cupy").cuda.nvrtc
    solution = importlib.import_module(f"lessons.{LESSON.name}.solution")
    texts = [running.WARP_SUM, importlib.import_module(f"lessons.{LESSON.name}.suspects").CODE]
    texts += [getattr(solution, name)() for name in solution.__all__ if name != "guilty_kernel"]
    assert len(texts) == 7
    plain = importlib.import_module("lessons.29_flash_attention.plain")
    flash = importlib.import_module("lessons.29_flash_attention.solution").flash_attention_kernel()
    texts += [plain.sizes(16, 32), flash, plain.CODE]
    try:
        program = nvrtc.createProgram("\n".join(texts), "kernels.cu", [], [])
        nvrtc.compileProgram(program, ["-arch=compute_75", "-std=c++17"])
    except nvrtc.NVRTCError:
        raise AssertionError(nvrtc.getProgramLog(program)) from None
    except RuntimeError as error:  # CuPy is there, the compiler's library is not
        pytest.skip(str(error))


def test_messages_name_the_line_of_the_file():
    solution = importlib.import_module(f"lessons.{LESSON.name}.solution")
    text = running.at_its_line(solution.row_sums_kernel, solution.row_sums_kernel())
    head, _, rest = text.partition("\n")
    number = int(head.split()[1])
    lines = (LESSON / "solution.py").read_text("utf-8").splitlines()
    assert head == f'#line {number} "solution.py"'
    assert rest.splitlines()[1] == lines[number]


def test_the_statements_of_a_kernel():
    text = """__global__ void k(float* x, int n) {
        int i = threadIdx.x;  // mine
        for (int c = i; c < n; c += f(32)) { x[c] += x[i + (c)]; }
        if (i < n) return;
    }"""
    assert list(kernel_text.kernel_statements(text)) == [
        "int i = threadIdx.x",
        "for (int c = i; c < n; c += f(32))",
        "x[c] += x[i + (c)]",
        "if (i < n)",
    ]


def test_statements_that_differ_in_names_alone():
    assert kernel_text.renamed("sum += x[row * D]") == kernel_text.renamed("s += in[r * width]")
    assert kernel_text.renamed("sum += x[row * D]") != kernel_text.renamed("sum += x[row + D]")
    assert kernel_text.renamed("y = expf(a)") != kernel_text.renamed("y = logf(a)")
