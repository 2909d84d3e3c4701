"""Kernels on the emulator, for the checks: what it finds is said as the referee says it, in a sentence.

Without a C++ compiler nothing can run: then a check is skipped, and says what to install.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import numpy as np
import pytest

from lessons.cuda_on_cpu import CompileError, LaunchError, NoCompiler, RawModule, checking
from lessons.referee import Fault, calls

SEEDS = 0, 1, 2  # of the order in which blocks and threads run

WARP_SUM = """
__device__ inline float warp_sum(float value) {
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_xor_sync(0xffffffff, value, distance);
    return value;
}
"""


def kernel(impl, name: str, above: str = "") -> Launcher:
    """The kernel of this name, whose text impl's function NAME_kernel returns, with another text above it."""
    function = getattr(impl, f"{name}_kernel")
    text = function()
    if not isinstance(text, str):
        raise Fault(f"{name}_kernel returns {text!r}, expected the text of a kernel", name, "count")
    if name == "layer_norm" and not re.search(r"\bwarp_sum\s*\(\s*float", text):
        above = WARP_SUM
    return compiled(above + at_its_line(function, text), name, function.__doc__)


def at_its_line(function, text: str) -> str:
    """The text, told to the compiler as a part of the file that it stands in, for its messages."""
    path = Path(inspect.unwrap(function).__code__.co_filename)
    before, found, _ = path.read_text("utf-8").partition(text) if path.is_file() else ("", "", "")
    return f'#line {before.count(chr(10)) + 1} "{path.name}"\n{text}' if found else text


def compiled(text: str, name: str, doc: str | None = None) -> Launcher:
    """The kernel of this name, or a skipped check if there is no compiler."""
    try:
        with checking():
            return Launcher(RawModule(code=text).get_function(name), name, doc)
    except NoCompiler as error:
        pytest.skip(str(error))
    except LookupError:
        raise Fault(f'the text has no kernel extern "C" __global__ void {name}(...)', name, "count") from None
    except CompileError as error:
        said = next((line for line in str(error).splitlines() if "error:" in line), str(error))
        said = re.sub("; did you mean .tinyvit::.*", "", said)  # the emulator's own
        if re.search("expected .* before", said):
            said += ". Look at the end of the line above it, too"
        raise Fault(f"the compiler does not accept {name}: {said}", name, "compile") from None


# What a message of the emulator says, by the kind of its fault; a check has a hint for each kind.
KINDS = {
    "race": "with no barrier between|of another block",
    "uninitialised": "that nobody has written",
    "bounds": "outside all arrays|, which has \\d+",
    "waiting": "waits|nobody can go on|has returned|lane",
}


def kind_of(message: str) -> str:
    """The kind of a fault that the emulator has found."""
    return next((kind for kind, words in KINDS.items() if re.search(words, message)), "launch")


class Launcher:
    """A kernel that is launched with its arguments by name, in their order; ints and floats are made C's."""

    def __init__(self, kernel, name: str, doc: str | None):
        self.kernel, self.name, self.doc = kernel, name, doc

    def __call__(self, grid: tuple[int, ...], block: tuple[int, ...], **arguments) -> int:
        """Run it with its threads in several orders, and return how many bytes it has loaded."""
        self._remember(arguments)
        c_types = {int: np.int32, float: np.float32}
        given = [c_types.get(type(each), lambda same: same)(each) for each in arguments.values()]
        names, before = list(arguments), [np.copy(each) for each in given]
        for seed in SEEDS:
            for array, old in zip(given, before, strict=True):
                if isinstance(array, np.ndarray):
                    array[...] = old
            try:
                with checking(seed) as checks:
                    self.kernel(grid, block, tuple(given))
            except LaunchError as error:
                said = re.sub(r"argument (\d+)", lambda number: names[int(number[1])], str(error))
                raise Fault(said, self.name, kind_of(said)) from None
        return checks.launches[-1].loads

    def _remember(self, arguments: dict) -> None:
        """Tell the referee what goes into the kernel, so that it can say what is missing in the result."""
        copies = {name: np.copy(each) if np.ndim(each) else each for name, each in arguments.items()}
        inputs = {name: each for name, each in copies.items() if not np.isnan(each).all()}  # outputs are NaN

        def launched(**_):
            """Stands for the kernel."""

        inputs["lane"] = np.arange(32)  # so that 32 times too large is not blamed on a row of 32 alone
        launched.__doc__ = f"{self.doc} lane (LANES,)"
        keyword = inspect.Parameter.KEYWORD_ONLY
        launched.__signature__ = inspect.Signature([inspect.Parameter(each, keyword) for each in inputs])
        calls.RECENT[self.name] = calls.Call(launched, (), inputs)
