"""Registers, shared memory and predicted occupancy of the kernels that a step of a model launches.

    python -m tests.lab.compiler.occupancy Ti/4 512 bf16 90

for a model at 32 px, a batch size, a precision and an architecture. Needs no GPU: see compiled_kernels.py.
The occupancy is the share of a multiprocessor's warps that its registers and shared memory leave room for.
"""

import sys
from math import prod
from typing import NamedTuple

from tests.lab.compiler.compiled_kernels import KERNELS, compile_kernel, usage
from tinyvit.engine.cuda.launch import Launch
from tinyvit.engine.cuda.plan import Options, Update, plan_step
from tinyvit.engine.cuda.plan.draft import PRECISIONS
from tinyvit.engine.cuda.support import unsupported
from tinyvit.model import preset
from tinyvit.support.errors import UserError

WARP, REGISTERS, REGISTER_UNIT = 32, 65536, 256  # of each multiprocessor; registers are given out to warps


class Limits(NamedTuple):
    """The limits of a multiprocessor (CUDA C++ Programming Guide, technical specifications)."""

    warps: int
    blocks: int
    shared_bytes: int
    reserved_bytes: int  # of shared memory, for each block


LIMITS = {
    75: Limits(32, 16, 64 << 10, 0),
    80: Limits(64, 32, 164 << 10, 1 << 10),
    86: Limits(48, 16, 100 << 10, 1 << 10),
    89: Limits(48, 24, 100 << 10, 1 << 10),
    90: Limits(64, 32, 228 << 10, 1 << 10),
    100: Limits(64, 32, 228 << 10, 1 << 10),
    120: Limits(48, 24, 100 << 10, 1 << 10),
}


def occupancy(architecture, threads, registers, shared_bytes):
    """Blocks and warps that are on a multiprocessor at a time."""
    limits = LIMITS[architecture]
    warps = -(-threads // WARP)
    by_registers = REGISTERS // (-(-registers * WARP // REGISTER_UNIT) * REGISTER_UNIT) // warps
    by_shared = limits.shared_bytes // max(1, shared_bytes + limits.reserved_bytes)
    blocks = min(limits.blocks, limits.warps // warps, by_registers, by_shared)
    return blocks, blocks * warps


def main(model="Ti/4", batch="512", precision="bf16", architecture="90"):
    """Print a line for each kernel of the plan."""
    architecture, config = int(architecture), preset(model, 32, 10)
    if reason := unsupported(config):
        raise UserError(f"{model} runs on plain CuPy: {reason}.")
    options = Options(precision, dataset=(50_000, 32, 32, 3), update=Update("adamw", clip=1.0))
    launches = {}
    for step in plan_step(config, int(batch), options).steps:
        if isinstance(step, Launch):
            launches.setdefault(step.file, {}).setdefault(
                (step.function, step.block, step.shared_bytes), step
            )
    print(f"{model}, batch {batch}, {precision}, sm_{architecture}: predicted, not measured")
    print(f"{'kernel':52}{'threads':>8}{'registers':>10}{'spilled':>8}{'shared':>8}{'blocks':>7}  occupancy")
    for file, found in launches.items():
        for function, block, dynamic in found:
            threads = prod(block)
            _, log, _ = compile_kernel(KERNELS / f"{file}.cu", architecture, [function])
            used = {name: numbers[0] for name, numbers in usage(log).items()}
            shared = used["shared"] + dynamic
            blocks, warps = occupancy(architecture, threads, used["registers"], shared)
            share = warps / LIMITS[architecture].warps
            print(
                f"{function:52}{threads:8}{used['registers']:10}{used['spilled']:8}{shared:8}{blocks:7}{share:10.0%}",
                flush=True,
            )


if __name__ == "__main__":
    given = sys.argv[1:]
    right = len(given) <= 4 and given[1:2] == [n for n in given[1:2] if n.isdigit()]
    right = right and set(given[2:3]) <= set(PRECISIONS) and set(given[3:]) <= set(map(str, LIMITS))
    if "--help" in given or not right:
        sys.exit(__doc__)
    try:
        main(*given)
    except UserError as error:
        sys.exit(str(error))
