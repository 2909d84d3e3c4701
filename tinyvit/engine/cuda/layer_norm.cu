// LayerNorm forward, mirrors tinyvit/ops/layer_norm.py: y = n * weight + bias, n = (x - mean) r, eq. 1 and 2 there.
//
// One warp (32 threads) normalises one row; a block of 128 threads does four rows side by side. Thread number `lane`
// of a warp reads the columns lane, lane + 32, lane + 64, ... so that the 32 threads always read 32 neighbours: one
// trip to memory. The D numbers of a row are read once and stay in registers; mean and variance are sums over the
// warp, in which every thread passes its part on by shuffles, without shared memory.
//
// Bytes moved for each row: D in, 2 D + 1 out (y and n, and r for the backward), and weight and bias, which stay in
// the cache. T is float or __nv_bfloat16; sums are float always. PER_LANE is D / 32 rounded up, so that the loops
// unroll and `values` really is in registers.

#include <cuda_bf16.h>

__device__ inline float as_float(float value) { return value; }
__device__ inline float as_float(__nv_bfloat16 value) { return __bfloat162float(value); }
__device__ inline void store(float* place, float value) { *place = value; }
__device__ inline void store(__nv_bfloat16* place, float value) { *place = __float2bfloat16(value); }

__device__ inline float warp_sum(float part) {
    for (int distance = 16; distance > 0; distance /= 2)
        part += __shfl_xor_sync(0xffffffff, part, distance);
    return part;  // the same in all 32 threads
}

template <typename T, int PER_LANE>
__global__ void __launch_bounds__(128)
layer_norm(const T* x, const float* weight, const float* bias, T* y, T* n, float* r, int rows, int D, float eps) {
    const int lane = threadIdx.x % 32;
    const int row = blockIdx.x * 4 + threadIdx.x / 32;
    if (row >= rows) return;  // a whole warp leaves together: the shuffles below miss nobody
    const size_t start = static_cast<size_t>(row) * D;

    float values[PER_LANE];
    float sum = 0;
#pragma unroll
    for (int i = 0; i < PER_LANE; i++) {
        const int column = lane + 32 * i;
        values[i] = column < D ? as_float(x[start + column]) : 0;
        sum += values[i];
    }
    const float mean = warp_sum(sum) / D;

    float squares = 0;
#pragma unroll
    for (int i = 0; i < PER_LANE; i++) {
        values[i] -= mean;
        if (lane + 32 * i < D) squares += values[i] * values[i];
    }
    const float scale = rsqrtf(warp_sum(squares) / D + eps);
    if (lane == 0) r[row] = scale;

#pragma unroll
    for (int i = 0; i < PER_LANE; i++) {
        const int column = lane + 32 * i;
        if (column < D) {
            const float normal = values[i] * scale;  // eq. 1
            store(n + start + column, normal);
            store(y + start + column, normal * weight[column] + bias[column]);  // eq. 2
        }
    }
}
