"""Small kernels for the emulator's tests, and bfloat16 in NumPy."""

SMALL = r"""
#include <cuda_bf16.h>

template <int THREADS>
__global__ void block_sums(const float* __restrict__ x, float* sums) {
    __shared__ float part[THREADS / 32], unused;
    float sum = x[blockIdx.x * THREADS + threadIdx.x];
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffff, sum, distance);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < THREADS / 32; i++) sum += part[i];
        sums[blockIdx.x] = sum;
    }
}

template <typename T>
__global__ void reverse(const T* x, T* y) {
    extern __shared__ __align__(16) unsigned char bytes[];
    T* kept = reinterpret_cast<T*>(bytes);
    const int number = threadIdx.y * blockDim.x + threadIdx.x, count = blockDim.x * blockDim.y;
    kept[number] = x[number];
    __syncthreads();
    y[number] = kept[count - 1 - number];
}

__global__ void to_bf16(const float* x, __nv_bfloat16* y, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) y[i] = __float2bfloat16(x[i]);
}

// Each lane loads its part of a (16 x 16) and b (16 x 8), stored row by row.
__global__ void product(const unsigned short* a, const unsigned short* b, const float* c, float* d) {
    const int group = threadIdx.x >> 2, place = threadIdx.x % 4;
    unsigned fa[4], fb[2];
    float fc[4], fd[4];
    for (int i = 0; i < 4; i++) {
        const unsigned short* from = a + (group + 8 * (i % 2)) * 16 + 2 * place + 8 * (i / 2);
        fa[i] = from[0] | from[1] << 16;
        fc[i] = c[(group + 8 * (i / 2)) * 8 + 2 * place + i % 2];
    }
    for (int i = 0; i < 2; i++) {
        const unsigned short* from = b + (2 * place + 8 * i) * 8 + group;
        fb[i] = from[0] | from[8] << 16;
    }
    tinyvit_emulated_mma_m16n8k16_bf16(fd, fa, fb, fc);
    for (int i = 0; i < 4; i++) d[(group + 8 * (i / 2)) * 8 + 2 * place + i % 2] = fd[i];
}

__global__ void lanes(int* found) {
    const int lane = threadIdx.x;
    found[lane] = __shfl_sync(0xffffffff, lane, 11, 8);
    found[32 + lane] = __shfl_up_sync(0xffffffff, lane, 2, 8);
    found[64 + lane] = __shfl_down_sync(0xffffffff, lane, 2, 8);
    found[96 + lane] = __shfl_xor_sync(0xffffffff, lane, 5);
    int sum = lane;
    if (lane < 16) {
        for (int bits = 8; bits > 0; bits /= 2) sum += __shfl_xor_sync(0x0000ffff, sum, bits);
    } else {
        for (int bits = 8; bits > 0; bits /= 2) sum += __shfl_xor_sync(0xffff0000, sum, bits);
    }
    found[128 + lane] = sum;
    found[160 + lane] = __shfl_xor_sync(0xffffffff, lane, -4);
    found[192 + lane] = __shfl_down_sync(0xffffffff, lane, -30);
}

__global__ void votes(unsigned* found) {
    const unsigned lane = threadIdx.x;
    const unsigned fourth = __ballot_sync(0xffffffff, lane % 4 == 0);
    const int any = __any_sync(0xffffffff, lane == 7), all = __all_sync(0xffffffff, lane != 7);
    const unsigned sum = __reduce_add_sync(0xffffffff, lane), most = __reduce_max_sync(0xffffffff, lane);
    const unsigned same = __match_any_sync(0xffffffff, lane % 4);
    if (lane == 3) {
        found[0] = fourth, found[1] = any, found[2] = all;
        found[3] = sum, found[4] = most, found[5] = same;
    }
}

__global__ void count(int* counts, float* total) {
    atomicAdd(&counts[threadIdx.x % 3], 1);
    atomicAdd(total, 0.5f);
}

template <int N> struct Numbers { float values[N]; };
template <int N>
__global__ void unpack(const Numbers<N>* x, float2* y, bool negate) {
    y[threadIdx.x] = make_float2(x->values[threadIdx.x], negate ? -1 : 1);
}
"""

# The forward pass of LayerNorm: one warp normalises a row.
LAYER_NORM = r"""
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
layer_norm(const T* x, const float* weight, const float* bias, T* y, T* n, float* r, int rows, int D,
           float eps) {
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
"""
