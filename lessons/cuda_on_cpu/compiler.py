"""From a kernel's text to a library that Python has loaded, compiled once and kept on disk."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from lessons.cuda_on_cpu.source import gather
from tinyvit.support import files

HERE = Path(__file__).parent
COMMON = ["-std=c++17", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off", "-fno-math-errno", "-w"]
COMMON += ["-fno-exceptions", "-fno-rtti", "-fno-strict-aliasing", "-fno-threadsafe-statics"]
PLAIN = ["-O2"]
# The compiler calls a function at each access to memory, as for its thread sanitizer, and at each address
# that does not suit its type; the functions are ours.
CHECKED = ["-O1", "-g1", "-gdwarf-4", "-fsanitize=thread,alignment"]
CHECKED_BY_CLANG = ["-mllvm", "-tsan-instrument-read-before-write=1"]  # as g++ does it
RUNTIME = ("launch", "scheduler", "meetings", "atomics")
CHECKS = ("cells", "accesses")


class NoCompiler(RuntimeError):  # noqa: N818 - what is missing, not what went wrong
    """There is no C++ compiler on this machine."""


class CompileError(RuntimeError):
    """The compiler does not accept the kernel's text."""


def compiler() -> list[str]:
    """The command of a C++ compiler, $CXX if it is set. Raises NoCompiler."""
    for name in (os.environ.get("CXX"), "g++", "clang++"):
        command = shlex.split(name or "")
        if command and shutil.which(command[0]):
            return command
    raise NoCompiler(
        "to run CUDA kernels on a CPU a C++ compiler is needed, and there is none. "
        "Install g++ or clang++ (apt install g++, or xcode-select --install), or set CXX to one."
    )


def cache_folder() -> Path:
    """The folder of compiled kernels: cuda_on_cpu in $TINYVIT_CACHE, or in ~/.cache/tinyvit."""
    return files.cache_folder() / "cuda_on_cpu"


def build(
    code: str, name: str, folders: list[Path], flags: list[str], entries: list[str], checked: bool
) -> Path:
    """The library with these kernels (name expressions), from the cache if it has been compiled before.

    name is shown in the compiler's messages; files are included from folders. Raises NoCompiler and
    CompileError.
    """
    main = Path(name).name
    texts = gather(code, main, folders)
    table = ",\n".join(f'    TINYVIT_ENTRY("{entry}", {entry})' for entry in entries)
    texts["all.cpp"] = (
        f'#include "tinyvit_cuda/device.h"\n#include "{main}"\n#line 1 "name expressions"\n'
        '#include "tinyvit_cuda/entry.h"\n'
        'extern "C" __attribute__((visibility("default"))) const tinyvit::Entry tinyvit_entries[] = {\n'
        f"{table}\n}};\n"
    )
    options = [*COMMON, *flags, *(CHECKED if checked else PLAIN)]
    if checked and "clang" in _version(*compiler()):
        options += CHECKED_BY_CLANG
    key = _digest(_runtime_digest(), _version(*compiler()), repr(options), repr(sorted(texts.items())))
    library = cache_folder() / f"{key}.so"
    if library.exists():
        return library
    objects = [_runtime_object(part, checked) for part in (*RUNTIME, *(CHECKS if checked else ()))]
    with tempfile.TemporaryDirectory() as folder:
        for path, text in texts.items():
            target = Path(folder, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        unit = Path(folder, "all.o")
        includes = [f"-ffile-prefix-map={folder}/=", "-I", folder, "-I", str(HERE / "include")]
        try:
            _run([*compiler(), *options, *includes, "-c", str(Path(folder, "all.cpp")), "-o", str(unit)])
        except CompileError as error:
            raise CompileError(str(error).replace(f"{folder}/", "")) from None
        _link([str(unit), *map(str, objects)], library)
    return library


def line_of(library: Path, code: int) -> str:
    """The file and line of an address in the library, if there is an addr2line: "sums.cu:12"."""
    command = ["addr2line", "-i", "-e", str(library), hex(code)]
    try:
        lines = subprocess.run(command, capture_output=True, text=True, check=False).stdout.split("\n")
    except OSError:
        return "line unknown"
    # the innermost function first; what the emulator's headers do, a line of the kernel asked for
    own = [line for line in lines if "tinyvit_cuda/" not in line and "/cuda_bf16.h" not in line and line]
    return Path(own[0].split(" ")[0]).name if own else "line unknown"


def load(library: Path) -> ctypes.CDLL:
    """The library, ready to be called."""
    return ctypes.CDLL(str(library))


def _runtime_object(part: str, checked: bool) -> Path:
    """A file of the scheduler, compiled."""
    flags = [*COMMON, "-O2", *(["-DTINYVIT_CHECKED"] if checked else [])]
    path = cache_folder() / f"{part}-{_digest(_runtime_digest(), _version(*compiler()), repr(flags))}.o"
    if not path.exists():
        source = HERE / "runtime" / f"{part}.cpp"
        _into(path, lambda target: _run([*compiler(), *flags, "-c", str(source), "-o", target]))
    return path


def _link(objects: list[str], library: Path) -> None:
    _into(library, lambda target: _run([*compiler(), "-shared", "-o", target, *objects, "-lm"]))


def _into(path: Path, make: Callable[[str], object]) -> None:
    """Make a file under another name, then move it: other processes see all of it or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, beside = tempfile.mkstemp(dir=path.parent, suffix=path.suffix)
    os.close(handle)
    try:
        make(beside)
        os.replace(beside, path)
    finally:
        Path(beside).unlink(missing_ok=True)


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CompileError(f"{command[0]} does not accept the kernel:\n{done.stderr[:4000].rstrip()}")


@functools.cache
def _version(*command: str) -> str:
    """A name for this compiler: another one compiles anew."""
    done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False)
    return " ".join(command) + done.stdout


@functools.cache
def _runtime_digest() -> str:
    files = sorted(path for path in HERE.rglob("*") if path.suffix in (".h", ".cpp", ".py"))
    return _digest(*(path.read_text(encoding="utf-8") for path in files))


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]
