"""CUDA kernels on a machine without a GPU: compiled as C++ and run thread by thread on the CPU.

The interface is CuPy's:

    module = RawModule(code=text, options=("-Ikernels",), name_expressions=["add<float>"])
    add = module.get_function("add<float>")
    add(grid, block, (x, y, np.int32(9)), shared_mem=0)        # x, y: NumPy arrays, or any with data.ptr

    with checking(seed=3) as checks:                           # slower; LaunchError for a faulty kernel
        add(grid, block, (x, y, np.int32(9)))
    checks.launches[-1].bytes_moved                            # of global memory, each number counted once

    with thread_order(7):                                      # unchecked, in another order of threads
        add(grid, block, (x, y, np.int32(9)))

How. The text is compiled unchanged, by g++ or clang++ ($CXX), with headers that supply what CUDA adds to C++
(include/); only __shared__ declarations are rewritten (source.py). Blocks run one after the other. Each
thread of a block is a fiber, a stack of its own, and runs until it waits for others at a barrier or a shuffle
(runtime/). What is compiled is kept in $TINYVIT_CACHE/cuda_on_cpu, under a name made of all that went into
it.

Always reported, as LaunchError: a barrier that not all threads of a block reach, a shuffle that a lane of its
mask misses or whose value comes from a lane that takes no part; a thread that has returned counts as missing.
Arguments that do not have the parameter's type are a TypeError. Under checking() a launch also looks at every
access to memory: two threads at the same bytes, one of them writing, with no barrier between (also two
blocks, and also if both write the same value); an index outside an array or a shared array; an address that
is not aligned; shared memory that nobody in the block has written. As in CUDA's manual, __syncwarp orders the
memory of a warp, and a shuffle does not.

Inline PTX cannot be run. Where TINYVIT_CUDA_ON_CPU is defined, a kernel can call

    tinyvit_emulated_mma_m16n8k16_bf16(d, a, b, c);   // float d[4], c[4], unsigned a[4], b[2]; all lanes

for mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32, with the same layout; d can be c.

What it does not show: speed; memory operations that overtake each other, which need __threadfence; what fast
mathematics (__expf, rsqrtf, fused multiply-adds) does to the last bits, and that CuPy's compiler takes 0 for
numbers below 1e-38; in which order tensor cores add; how many registers a kernel needs; that a block has more
threads than __launch_bounds__ allows; what a cast gives of a number that the new type cannot hold, or a shift
by 32 or more. Neither local arrays are checked nor variables declared __device__ or __constant__, nor that
arrays are different where __restrict__ promises it, nor that all threads reach the same barrier if it is
in a function that both branches of an if call. What is right, but reported: a block that reads what others
wrote because an atomic counter told it that they are done. Endless loops and blocks that wait for each other
never end. There are no headers for float16 and for cooperative groups.
"""

from lessons.cuda_on_cpu.checking import Checking, Traffic, checking, thread_order
from lessons.cuda_on_cpu.compiler import CompileError, NoCompiler
from lessons.cuda_on_cpu.module import Kernel, LaunchError, RawModule

__all__ = [
    "Checking",
    "CompileError",
    "Kernel",
    "LaunchError",
    "NoCompiler",
    "RawModule",
    "Traffic",
    "checking",
    "thread_order",
]
