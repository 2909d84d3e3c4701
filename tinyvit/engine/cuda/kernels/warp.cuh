// Sums and maxima over the 32 threads of a warp, and sums over several warps, the same in every thread.
//
// In a warp the threads pass their numbers on by shuffles, from register to register: each adds the number of the
// thread 16 away, then 8, 4, 2 and 1 away, and after five steps all have the sum of all 32. All 32 threads must take
// part. The order of the additions is fixed, so that a result is repeatable to the bit.

#pragma once

constexpr int WARP = 32;
constexpr unsigned ALL_LANES = 0xffffffff;

__device__ inline float warp_sum(float part) {
#pragma unroll
    for (int distance = WARP / 2; distance > 0; distance /= 2) part += __shfl_xor_sync(ALL_LANES, part, distance);
    return part;
}

__device__ inline float warp_max(float part) {
#pragma unroll
    for (int distance = WARP / 2; distance > 0; distance /= 2)
        part = fmaxf(part, __shfl_xor_sync(ALL_LANES, part, distance));
    return part;
}

// The sum over a team of THREADS neighbouring threads: one warp, or several. Several warps exchange their sums in
// shared memory, and then every thread of the block has to take part. scratch has a number for each warp of the block;
// it may be used again straight away.
template <int THREADS>
__device__ inline float team_sum(float part, float* scratch) {
    part = warp_sum(part);
    if constexpr (THREADS > WARP) {
        if (threadIdx.x % WARP == 0) scratch[threadIdx.x / WARP] = part;
        __syncthreads();
        const float* team = scratch + threadIdx.x / THREADS * (THREADS / WARP);
        part = team[0];
#pragma unroll
        for (int warp = 1; warp < THREADS / WARP; warp++) part += team[warp];
        __syncthreads();  // nobody writes to scratch again before all have read it
    }
    return part;
}

// The sum over all threads of a block of whole warps. scratch, in shared memory, has a number for each warp; it may be
// used again straight away.
__device__ inline float block_sum(float part, float* scratch) {
    const int warps = blockDim.x / WARP;
    part = warp_sum(part);
    if (threadIdx.x % WARP == 0) scratch[threadIdx.x / WARP] = part;
    __syncthreads();
    float sum = 0;
    for (int warp = 0; warp < warps; warp++) sum += scratch[warp];
    __syncthreads();  // nobody writes to scratch again before all have read it
    return sum;
}
