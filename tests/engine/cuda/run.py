"""Runs a Launch on NumPy arrays, on the CPU.

bfloat16 numbers are kept as uint16 arrays of their bits, since NumPy has no such type; what goes in and what
comes out here is float32. To look for faults, to count bytes or to change the order of threads, run inside
cuda_on_cpu's `with checking(seed) as checks:` or `with thread_order(seed):`.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import tinyvit.engine.cuda
from lessons.cuda_on_cpu import Kernel, NoCompiler, RawModule
from tests.bfloat16 import from_bf16, to_bf16
from tinyvit.engine.cuda.launch import Buffer, Launch

KERNELS = Path(tinyvit.engine.cuda.__file__).parent / "kernels"


def rounded(x: np.ndarray, dtype: str) -> np.ndarray:
    """x as it is after being stored as dtype, a Buffer's, as float32."""
    return from_bf16(to_bf16(x)) if dtype == "bfloat16" else np.asarray(x, np.float32)


def stored(x: np.ndarray, dtype: str) -> np.ndarray:
    """x as memory holds it for a Buffer of that dtype: a new array."""
    return to_bf16(x) if dtype == "bfloat16" else np.array(x, dtype)


@cache
def compiled(file: str, functions: tuple[str, ...]) -> RawModule:
    """A kernel file, compiled once for all these functions."""
    path = KERNELS / f"{file}.cu"
    options = ("-std=c++17", f"-I{KERNELS}")
    return RawModule(
        code=path.read_text("utf-8"), path=path.name, options=options, name_expressions=functions
    )


def run(
    launch: Launch, given: Mapping[str, np.ndarray], functions: tuple[str, ...] = ()
) -> dict[str, np.ndarray]:
    """Carry out one launch; returns what it wrote, by the names of the buffers.

    given has the values of the buffers that are read, by name, converted here to the buffers' dtypes. All
    others begin as NaN, so that a result nobody wrote is seen. functions lists what to compile together:
    the compiler's start is most of the time that it takes.
    """
    memory = {buffer.name: _allocate(buffer, launch, given) for buffer in _buffers(launch)}
    arguments = [_part(memory, a) if isinstance(a, Buffer) else a for a in launch.args]
    kernel = _kernel(launch, functions)
    kernel(launch.grid, launch.block, tuple(arguments), shared_mem=launch.shared_bytes)
    results = {b.name: _part(memory, b).reshape(b.shape) for b in launch.writes}
    return {name: from_bf16(a) if a.dtype == np.uint16 else a for name, a in results.items()}


def _kernel(launch: Launch, functions: tuple[str, ...]) -> Kernel:
    try:
        kernel = compiled(launch.file, functions or (launch.function,)).get_function(launch.function)
    except NoCompiler as error:
        pytest.skip(str(error))
    if launch.shared_bytes > kernel.max_dynamic_shared_size_bytes:
        kernel.max_dynamic_shared_size_bytes = launch.shared_bytes
    return kernel


def _buffers(launch: Launch) -> list[Buffer]:
    return [argument for argument in launch.args if isinstance(argument, Buffer)]


def _allocate(buffer: Buffer, launch: Launch, given: Mapping[str, np.ndarray]) -> np.ndarray:
    """The whole flat array that this buffer is, or is a view of."""
    if buffer.name in given:
        return stored(np.ravel(given[buffer.name]), buffer.dtype)
    size = max(b.start + b.size for b in _buffers(launch) if b.name == buffer.name)
    if buffer.dtype in ("float32", "bfloat16"):
        return stored(np.full(size, np.nan), buffer.dtype)
    return np.full(size, np.iinfo(buffer.dtype).max, buffer.dtype)


def _part(memory: Mapping[str, np.ndarray], buffer: Buffer) -> np.ndarray:
    return memory[buffer.name][buffer.start : buffer.start + buffer.size]


def assert_agrees(found: np.ndarray, expected: np.ndarray, dtype: str = "float32", scale: float = 0) -> None:
    """found equals expected, to 1e-5 in float32 and 1e-2 in bfloat16, relative to the largest number.

    scale, if larger, takes its place: for sums whose terms cancel, the sum of their sizes.
    """
    expected = np.asarray(expected, np.float64)
    limit = {"float32": 1e-5, "bfloat16": 1e-2}[dtype] * max(np.abs(expected).max(), scale)
    assert found.shape == expected.shape
    error = np.abs(found - expected).max()
    assert error <= limit, f"off by {error:.3g}, allowed {limit:.3g}"
