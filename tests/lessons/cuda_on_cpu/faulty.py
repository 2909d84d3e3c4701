"""Kernels with one fault each, which the line marked // here has, and the same kernels without it."""

SHORT = r"""
KERNEL no_barrier(const float* x, float* y) {
    __shared__ float kept[64];
    kept[threadIdx.x] = x[threadIdx.x];
    y[threadIdx.x] = kept[63 - threadIdx.x];  // here
}
KERNEL no_barrier_before_writing_again(const float* x, float* y) {
    __shared__ float kept[64];
    for (int round = 0; round < 2; round++) {
        kept[threadIdx.x] = x[threadIdx.x] * round;  // here
        __syncthreads();
        y[threadIdx.x] += kept[63 - threadIdx.x];
    }
}
KERNEL with_barrier(const float* x, float* y) {
    __shared__ float kept[64];
    for (int round = 0; round < 2; round++) {
        kept[threadIdx.x] = x[threadIdx.x] * round;
        __syncthreads();
        y[threadIdx.x] += kept[63 - threadIdx.x];
        __syncthreads();
    }
}
KERNEL no_syncwarp(const float* x, float* y) {
    __shared__ float kept[32];
    kept[threadIdx.x] = x[threadIdx.x];
    float sum = __shfl_xor_sync(0xffffffff, x[threadIdx.x], 1);  // a shuffle orders no memory
    y[threadIdx.x] = sum + kept[31 - threadIdx.x];  // here
}
KERNEL with_syncwarp(const float* x, float* y) {
    __shared__ float kept[2][32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    kept[warp][lane] = x[threadIdx.x];
    __syncwarp();
    y[threadIdx.x] = kept[warp][31 - lane];
}
KERNEL syncwarp_between_warps(const float* x, float* y) {
    __shared__ float kept[64];
    kept[threadIdx.x] = x[threadIdx.x];
    __syncwarp();
    y[threadIdx.x] = kept[63 - threadIdx.x];  // here
}
KERNEL syncwarp_of_half(const float* x, float* y) {
    __shared__ float kept[32];
    kept[threadIdx.x] = x[threadIdx.x];
    __syncwarp(threadIdx.x < 16 ? 0x0000ffff : 0xffff0000);
    y[threadIdx.x] = kept[31 - threadIdx.x];  // here
}
KERNEL same_place(const float* x, float* y) {
    y[threadIdx.x / 2] = x[threadIdx.x];  // here
}
KERNEL blocks_same_place(const float* x, float* y) {
    if (threadIdx.x == 0) y[0] = x[blockIdx.x];  // here
}
KERNEL atomic_and_plain(int* counts) {
    atomicAdd(&counts[0], 1);
    if (threadIdx.x == 9) counts[0] = 3;  // here
}
KERNEL reads_beyond(const float* x, float* y) {
    y[threadIdx.x] = x[threadIdx.x + 1];  // here
}
KERNEL reads_before(const float* x, float* y) {
    y[threadIdx.x] = x[static_cast<int>(threadIdx.x) - 1];  // here
}
KERNEL writes_beyond(const float* x, float* y) {
    y[threadIdx.x + (threadIdx.x == 5) * 60] = x[threadIdx.x];  // here
}
KERNEL null_pointer(const float* x, float* y, float* z) {
    z[threadIdx.x] = 1;  // here
}
KERNEL beyond_shared(const float* x, float* y) {
    __shared__ float kept[64], next[64];
    next[threadIdx.x] = 0;
    kept[threadIdx.x + 1] = x[threadIdx.x];  // here
    y[threadIdx.x] = kept[threadIdx.x + 1];
}
KERNEL beyond_dynamic(const float* x, float* y) {
    extern __shared__ float kept[];
    kept[threadIdx.x] = x[threadIdx.x];  // here
    y[threadIdx.x] = kept[threadIdx.x];
}
KERNEL unwritten(const float* x, float* y) {
    __shared__ float kept[64];
    if (threadIdx.x % 8) kept[threadIdx.x] = x[threadIdx.x];
    y[threadIdx.x] = kept[threadIdx.x];  // here
}
KERNEL written_by_block_0(const float* x, float* y) {
    __shared__ float kept[64];
    if (blockIdx.x == 0) kept[threadIdx.x] = x[threadIdx.x];
    y[64 * blockIdx.x + threadIdx.x] = kept[threadIdx.x];  // here
}
KERNEL not_aligned(const float* x, float* y) {
    const float4 four = *reinterpret_cast<const float4*>(x + threadIdx.x);  // here
    y[threadIdx.x] = four.x + four.y + four.z + four.w;
}

KERNEL returns_before_barrier(int count) {
    if (threadIdx.x >= count) return;
    __syncthreads();  // here
}
KERNEL barrier_in_branch(int count) {
    if (threadIdx.x < count)
        __syncthreads();  // here
    else
        __syncthreads();
}
KERNEL barrier_against_shuffle(int count) {
    if (threadIdx.x < count) {
        __syncthreads();  // here
    } else {
        __shfl_sync(0xffffffff, count, 0);
    }
}
KERNEL shuffle_misses_returned(int count, int* y) {
    if (threadIdx.x >= count) return;
    y[threadIdx.x] = __shfl_xor_sync(0xffffffff, count, 1);  // here
}
KERNEL not_in_its_mask(int count, int* y) {
    y[threadIdx.x] = __shfl_xor_sync((1u << count) - 1, count, 1);  // here
}
KERNEL asks_outside_its_mask(int count, int* y) {
    if (threadIdx.x < count) y[threadIdx.x] = __shfl_sync((1u << count) - 1, count, 31);  // here
}
KERNEL two_kinds_of_meeting(int count, int* y) {
    if (threadIdx.x < count)
        y[threadIdx.x] = __shfl_sync(0xffffffff, count, 0);
    else
        y[threadIdx.x] = __any_sync(0xffffffff, count);
}
KERNEL mixed(const float* x, const unsigned short* z, float* y, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) y[i] += x[i / 2] + z[i];
}
"""
FAULTY = SHORT.replace("KERNEL", 'extern "C" __global__ void')


def line_of(kernel: str) -> int:
    """The line number of a kernel's fault."""
    lines = SHORT.split("\n")
    start = next(i for i, line in enumerate(lines) if f"KERNEL {kernel}(" in line)
    return 1 + next(i for i in range(start, len(lines)) if "// here" in lines[i])
