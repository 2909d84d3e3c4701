"""The loads from memory in a kernel's machine code: how many are under way before a thread waits.

    python -m tests.lab.compiler.machine_code 90 layer_norm.cu

prints the trips to memory of each kernel of that file, for an architecture. Needs no GPU, but nvdisasm: it
comes with CUDA, and alone as the package nvidia-cuda-nvdisasm.
"""

import functools
import importlib.util
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.lab.compiler.compiled_kernels import INSTANCES, KERNELS, compile_kernel

INSTRUCTION = re.compile(r"\s+/\*[0-9a-f]+\*/\s+(@!?U?P\w+\s+)?(\S+)\s*(.*?)\s*;")


def disassembler():
    """The path of nvdisasm; None if it is not installed."""
    if found := shutil.which("nvdisasm"):
        return found
    packages = importlib.util.find_spec("nvidia")
    folders = packages.submodule_search_locations if packages else ()
    return next((str(path) for folder in folders for path in Path(folder).glob("*/bin/nvdisasm")), None)


@functools.cache
def disassembled(code):
    """The text of machine code."""
    with tempfile.TemporaryDirectory() as folder:
        cubin = Path(folder, "kernel.cubin")
        cubin.write_bytes(code + b"\0")  # CuPy takes the last byte for the end of a string
        command = [disassembler(), "-c", cubin]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def assembly(code, name):
    """The instructions of the kernel of this name, as pairs (operation, operands), in the order of the code.

    What lies behind its last exit is left out: subroutines, and copies for warps whose threads have diverged.
    """
    sections = disassembled(code).split("//--------------------- .text.")
    (section,) = (section for section in sections if section.split(maxsplit=1)[0] == name)
    code = [found.groups() for line in section.splitlines() if (found := INSTRUCTION.match(line))]
    last = max(i for i, (predicate, operation, _) in enumerate(code) if operation == "EXIT" and not predicate)
    return [tuple(instruction) for _, *instruction in code[:last]]


def trips(instructions):
    """The loads from global memory, as bits of each, in groups that a thread waits for together.

    A group ends with the first instruction that has a register of one of its loads as an operand. Both sides
    of a branch count, one after the other.
    """
    groups, loads, awaited = [], [], set()
    for operation, operands in instructions:
        is_load = operation.startswith("LDG")
        target, _, others = operands.partition(",") if is_load else ("", "", operands)
        if awaited & set(re.findall(r"\bR\d+\b", others)):
            groups.append(loads)
            loads, awaited = [], set()
        if is_load:
            bits = next((n for n in (128, 64) if f".{n}" in operation), 32)
            first = int(re.match(r"R(\d+)", target)[1])
            awaited |= {f"R{first + i}" for i in range(bits // 32)}
            loads.append(bits)
    return [*groups, loads] if loads else groups


def main(architecture, file):
    """Print a line for each kernel."""
    code, _, names = compile_kernel(KERNELS / file, int(architecture), INSTANCES[file])
    for instance, name in names.items():
        found = trips(assembly(code, name))
        print(f"{instance:52}", " | ".join(" ".join(map(str, loads)) for loads in found), flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 3 or disassembler() is None:
        sys.exit(__doc__)
    main(*sys.argv[1:])
