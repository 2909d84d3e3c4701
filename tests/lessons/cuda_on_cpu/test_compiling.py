"""Compiling: what a person without a compiler or with a mistake reads, and that nothing is compiled twice."""

from contextlib import nullcontext

import numpy as np
import pytest

from lessons.cuda_on_cpu import CompileError, LaunchError, NoCompiler, RawModule, compiler, source

CODE = 'extern "C" __global__ void fill(int* x) {\n    x[threadIdx.x] = 7;\n}\n'


def launch(code=CODE, name="fill", **keywords):
    x = np.zeros(4, np.int32)
    RawModule(code=code, **keywords).get_function(name)((1,), (4,), (x,))
    return x.tolist()


def test_a_kernel_is_compiled_once(tmp_path, monkeypatch):
    monkeypatch.setenv("TINYVIT_CACHE", str(tmp_path))
    assert launch() == [7] * 4
    files = sorted((tmp_path / "cuda_on_cpu").iterdir())
    monkeypatch.setattr(compiler, "_run", lambda command: pytest.fail("compiled again"))
    assert launch() == [7] * 4
    assert sorted((tmp_path / "cuda_on_cpu").iterdir()) == files


def test_a_mistake_is_shown_with_its_line():
    with pytest.raises(CompileError, match=r"fill.cu:2:.*error"):
        launch(CODE.replace("7", "seven"), path="fill.cu")


def test_without_a_compiler_one_line_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(NoCompiler, match=r"Install g\+\+ or clang\+\+") as caught:
        launch()
    assert "\n" not in str(caught.value)


def test_the_compiler_can_be_chosen(monkeypatch, tmp_path):
    chosen = tmp_path / "mine"
    chosen.write_text("#!/bin/sh\n")
    chosen.chmod(0o755)
    monkeypatch.setenv("CXX", f"{chosen} -m64")
    assert compiler.compiler() == [str(chosen), "-m64"]


def test_a_kernel_that_was_not_asked_for():
    with pytest.raises(LookupError, match="fil is not among the name expressions of the module: fill"):
        launch(name="fil")


def test_too_large_arrays_in_shared_memory():
    body = "__shared__ int a[8000], b[8000];\n a[threadIdx.x] = 1; b[threadIdx.x] = 2; x[threadIdx.x] = 3;"
    with pytest.raises(LaunchError, match=r"up to b have 64000 bytes, and the compiler allows 49152"):
        launch(CODE.replace("x[threadIdx.x] = 7;", body))


@pytest.mark.parametrize(
    "shared, allowed, message",
    [
        (
            40 * 1024,
            48 * 1024,
            "up to kept have 40960 bytes, and extern __shared__ 40960: .* at most 49152 .*max_",
        ),
        (100 * 1024, 200 * 1024, "40960 bytes, and extern __shared__ 204800: .* at most 232448 "),
        (8 * 1024, 48 * 1024, ""),
        (187 * 1024, 187 * 1024, ""),
    ],
)
def test_arrays_in_shared_memory_that_are_too_large_together(shared, allowed, message):
    body = "__shared__ int kept[10240]; kept[threadIdx.x] = 7; x[threadIdx.x] = kept[threadIdx.x];"
    kernel = RawModule(code=CODE.replace("x[threadIdx.x] = 7;", body)).get_function("fill")
    kernel.max_dynamic_shared_size_bytes = allowed
    with pytest.raises(LaunchError, match=message) if message else nullcontext():
        kernel((1,), (4,), (np.zeros(4, np.int32),), shared_mem=shared)


@pytest.mark.parametrize(
    "declared, written",
    [
        ("__shared__ float x;", ["typedef float tinyvit_type_x ;", "float"]),
        ("__shared__ Pair<float, 3> x[2][N + 1];", ["typedef Pair<float, 3> tinyvit_type_x [2][N + 1];"]),
        ("__shared__ int a[3], b[f(1, 2)];", ["int tinyvit_type_a [3];", "int tinyvit_type_b [f(1, 2)];"]),
        ("__shared__ __align__(16) T x[4];", ["T tinyvit_type_x [4];", "(alignof(tinyvit_type_x) | 16)"]),
        ("__shared__ volatile int x[4];", ["typedef volatile int tinyvit_type_x [4];"]),
        ("extern __shared__ alignas(8) char x[];", ["char* const x = ", "(tinyvit::dynamic_shared);"]),
        ("__shared__ int x[2] = {1, 2};", ["static_assert(false", "has no first value"]),
        ("__shared__ int x[N == 2 ? 1 : 3];", ["int tinyvit_type_x [N == 2 ? 1 : 3];"]),
        ("// __shared__ int x;", ["// __shared__ int x;"]),
    ],
)
def test_how_shared_arrays_are_rewritten(declared, written):
    result = source.rewrite(f"before\n{declared}\nafter")
    assert all(part in result for part in written)
    assert result.startswith("before\n") and result.endswith("\nafter")
    assert result.count("\n") == 2


def test_rewriting_keeps_line_numbers():
    assert source.rewrite("a\n__shared__ int\n x[3];\nb").count("\n") == 3
