"""The kernels in the folder kernels/, compiled for what the plans need of them."""

import hashlib
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from tinyvit.backend import install_cuda
from tinyvit.engine.cuda.launch import Launch, Step

FOLDER = Path(__file__).parent / "kernels"
USUAL_SHARED_BYTES = 48 << 10  # a kernel that is to have more must ask for it


class KernelError(RuntimeError):
    """Kernels cannot be compiled on this machine: one line that says why."""


class Kernels:
    """Compiled kernels, by file and function.

    CuPy, from 14.2 on, keeps the machine code on disk. CuPy 13.6 writes it too, but never reads that of
    templates, whose mangled names it knows from the compiler alone: every process compiles for some seconds.
    Only what is private to CuPy could avoid that, so it stays.
    """

    def __init__(self, xp: ModuleType):
        self._xp = xp
        self._compiled: dict[tuple[str, str], Any] = {}

    def compile(self, steps: tuple[Step, ...]) -> None:
        """Compile what these steps launch and is not yet there: one module per file, with all functions.

        Raises KernelError if that is not possible.
        """
        missing: dict[str, set[str]] = {}
        for step in steps:
            if isinstance(step, Launch) and (step.file, step.function) not in self._compiled:
                missing.setdefault(step.file, set()).add(step.function)
        for file, functions in sorted(missing.items()):
            self._compile_file(file, tuple(sorted(functions)))

    def kernel(self, launch: Launch) -> Any:
        """The compiled kernel of a launch, allowed the shared memory that this launch needs."""
        kernel = self._compiled[launch.file, launch.function]
        if launch.shared_bytes > USUAL_SHARED_BYTES:
            allowed = max(launch.shared_bytes, kernel.max_dynamic_shared_size_bytes)
            kernel.max_dynamic_shared_size_bytes = allowed
        return kernel

    def _compile_file(self, file: str, names: tuple[str, ...]) -> None:
        code = (FOLDER / f"{file}.cu").read_text("utf-8")
        try:
            module = self._xp.RawModule(code=code, options=_options(), name_expressions=names)
            for name in names:
                self._compiled[file, name] = module.get_function(name)
        except MemoryError:
            raise
        except Exception as error:  # of CuPy's compiler, of NVRTC, of the driver: they have no common type
            raise KernelError(_explained(file, error)) from error


@cache
def _options() -> tuple[str, ...]:
    """Options for the compiler.

    CuPy looks for machine code on disk by the text of the .cu file and the options. The files that it
    includes do not count there, so a digest of them is made an option: if one has changed, so has that.
    """
    headers = b"".join(path.read_bytes() for path in sorted(FOLDER.glob("*.cuh")))
    return "-std=c++17", f"-I{FOLDER}", f"-DTINYVIT_HEADERS=0x{hashlib.sha256(headers).hexdigest()[:16]}"


def _explained(file: str, error: Exception) -> str:
    """The reason why a file does not compile, and the remedy if it is known: one line.

    CuPy's packages bring no cuda_bf16.h: CuPy takes it from the CUDA toolkit, or from NVIDIA's package of the
    runtime; 13.6 only if that has NVRTC's own version, and never for NVRTC 12.0 and 12.1.
    """
    text = str(error)
    if "CUDA headers" in text or "cuda_bf16.h" in text:
        return f"the CUDA header files are missing; {install_cuda()}"
    lines = text.splitlines() or [type(error).__name__]
    line = next((line.partition("error:")[2] for line in lines if "error:" in line), lines[0])
    return f"{file}.cu does not compile ({line.strip()})"
