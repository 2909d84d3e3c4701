// The bias before GELU, GELU, and dropout after it, in one pass, forward and backward (tinyvit/ops/gelu.py):
//
//     g = m * gelu(h + bias)        dh = dg * m * gelu'(h + bias)        dbias = sum of dh over the rows
//
// A block is 32 threads wide and 8 high. A thread has VEC neighbouring columns, whose biases it reads once, and walks
// down the rows: a warp reads 32 neighbouring vectors of one row in one trip to memory. The forward has two rows under
// way at a time, and the backward dg and h of one. The blocks side by side cover the columns; those one above the other
// share the rows. In the backward, a thread adds up dh of its columns in registers; the 8 threads that have the same
// columns add their sums in shared memory, in a fixed order, and the block writes its part of one row of partial sums,
// which add_columns (sums.cu) adds. As many blocks are launched as run at the same time, six on each multiprocessor and
// four in the backward, for which a thread has 40 and 64 registers.
//
// Bytes moved for each number: h in and g out, 2 sizeof(T); backward dg and h in and dh out, 3 sizeof(T): gelu' is
// computed again from h, not stored. At these few bytes the arithmetic counts too, so exp and the division are the
// card's fast approximations, good to 1e-6.
//
// cuBLASLt can do this inside the products beside it, and save those bytes. But on an H200 a step of Ti/4 with 512
// images in bf16 then took 1.35 times as long: the product with GELU's slope takes 2.7 ms instead of 0.8 with this kernel.

#include "noise.cuh"
#include "numbers.cuh"
#include "warp.cuh"

constexpr int HEIGHT = 8;

// The two forms: gelu(x) = x gate(x), and slope(x, gate(x)) is its derivative.
struct Tanh {
    static constexpr float STEEP = 1.5957691216057308f, CUBIC = 0.044715f;  // 2u = STEEP (x + CUBIC x^3)

    __device__ static float gate(float x) {
        return __fdividef(1, 1 + __expf(-STEEP * x * (1 + CUBIC * x * x)));  // eq. 3
    }
    __device__ static float slope(float x, float s) {
        return s + x * s * (1 - s) * STEEP * (1 + 3 * CUBIC * x * x);  // eq. 5
    }
};

struct Exact {
    __device__ static float gate(float x) { return 0.5f * (1 + erff(x * 0.7071067811865476f)); }  // eq. 1
    __device__ static float slope(float x, float phi) {
        return phi + x * __expf(-0.5f * x * x) * 0.3989422804014327f;  // eq. 4
    }
};

template <typename T, typename Form, int VEC>
__global__ void __launch_bounds__(WARP * HEIGHT, 6)
bias_gelu(const T* __restrict__ h, const float* __restrict__ bias, const unsigned* keys, float dropout_rate,
          int dropout_site, float path_rate, int path_site, int tokens, T* __restrict__ g, int rows, int M) {
    const int column = (blockIdx.x * WARP + threadIdx.x) * VEC;
    if (column >= M) return;
    float offset[VEC];
    for (int k = 0; k < VEC; k++) offset[k] = bias[column + k];

    const int first = blockIdx.y * HEIGHT + threadIdx.y, step = gridDim.y * HEIGHT;
    for_each_row<2, VEC>(h + column, M, first, rows, step, [&](int row, const Fetched<T, VEC>& here) {
        const RowMask mask(keys, dropout_rate, dropout_site, path_rate, path_site, tokens, row, M);
        float values[VEC];
#pragma unroll
        for (int k = 0; k < VEC; k++) {
            const float x = here[k] + offset[k];
            values[k] = mask(column + k) * x * Form::gate(x);
        }
        store_vector<VEC>(g + static_cast<size_t>(row) * M + column, values);
    });
}

template <typename T, typename Form, int VEC>
__global__ void __launch_bounds__(WARP * HEIGHT, 4)
bias_gelu_backward(const T* __restrict__ dg, const T* __restrict__ h, const float* __restrict__ bias,
                   const unsigned* keys, float dropout_rate, int dropout_site, float path_rate, int path_site,
                   int tokens, T* __restrict__ dh, float* partials, int rows, int M) {
    constexpr int WIDTH = WARP * VEC;
    alignas(16) __shared__ float shared[HEIGHT][WIDTH];
    const int column = blockIdx.x * WIDTH + threadIdx.x * VEC;
    float offset[VEC] = {}, sums[VEC] = {};
    if (column < M)
        for (int k = 0; k < VEC; k++) offset[k] = bias[column + k];

    for (int row = blockIdx.y * HEIGHT + threadIdx.y; row < rows && column < M; row += gridDim.y * HEIGHT) {
        const RowMask mask(keys, dropout_rate, dropout_site, path_rate, path_site, tokens, row, M);
        const size_t place = static_cast<size_t>(row) * M + column;
        const Fetched<T, VEC> h_here = fetch<VEC>(h + place), dg_here = fetch<VEC>(dg + place);
        float grads[VEC];
#pragma unroll
        for (int k = 0; k < VEC; k++) {
            const float x = h_here[k] + offset[k];
            grads[k] = dg_here[k] * mask(column + k) * Form::slope(x, Form::gate(x));
            sums[k] += grads[k];
        }
        store_vector<VEC>(dh + place, grads);
    }

#pragma unroll
    for (int k = 0; k < VEC; k++) shared[threadIdx.y][threadIdx.x * VEC + k] = sums[k];
    __syncthreads();
    for (int c = threadIdx.y * WARP + threadIdx.x; c < WIDTH && blockIdx.x * WIDTH + c < M; c += WARP * HEIGHT) {
        float sum = 0;
#pragma unroll
        for (int y = 0; y < HEIGHT; y++) sum += shared[y][c];
        partials[static_cast<size_t>(blockIdx.y) * M + blockIdx.x * WIDTH + c] = sum;
    }
}
