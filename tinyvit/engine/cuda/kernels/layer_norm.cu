// The end of one residual branch and the LayerNorm before the next, in one pass: forward.
//
//     total = x + m (branch + branch_bias)      m: dropout and stochastic depth              (tinyvit/model/block.py)
//     y = n * weight + bias                     n = (total - mean) r        (tinyvit/ops/layer_norm.py, eq. 1 and 2)
//
// A team of THREADS threads, usually one warp, has one row; a block has several teams. A thread reads VEC neighbouring
// columns at a time, and the team's threads read neighbouring vectors: one trip to memory for all of them. After LOADS
// such trips, the row is in registers and stays there: mean and variance are two sums over the team, and nothing is
// read twice. All loads of a row, x, branch and the branch's bias, are issued before the first number is used, so that
// the thread waits for memory once; the dropout's keys, the gain and the offset come later, from the cache.
//
// Bytes moved for each number of a row: x and branch in, total and y out, 4 sizeof(T); without a branch x in and y out,
// 2 sizeof(T). For each row 8 more, mean and r, which the backward reads. weight and the biases stay in the cache.

#include "noise.cuh"
#include "numbers.cuh"
#include "warp.cuh"

template <typename T, int THREADS, int LOADS, int VEC>
__global__ void __launch_bounds__(128)
residual_layer_norm(const T* x, const T* branch, const float* __restrict__ branch_bias,
                    const unsigned* keys, float dropout_rate, int dropout_site, float path_rate, int path_site,
                    int tokens, T* total, const float* __restrict__ weight, const float* __restrict__ bias, T* y,
                    float* mean, float* r, int rows, int D, int every, float eps) {
    __shared__ float scratch[128 / WARP];
    const int lane = threadIdx.x % THREADS;
    const int row = blockIdx.x * (128 / THREADS) + threadIdx.x / THREADS;
    const int width = row < rows ? D : 0;  // beyond the last row there are no columns, but the sums need every thread
    const int branch_width = branch ? width : 0, offset_width = branch_bias ? width : 0;
    const size_t start = static_cast<size_t>(row) * D;

    Fetched<T, VEC> x_here[LOADS] = {}, branch_here[LOADS] = {};
    Fetched<float, VEC> offset[LOADS] = {};
#pragma unroll
    for (int i = 0; i < LOADS; i++) {
        const int column = (lane + THREADS * i) * VEC;
        if (column < width) x_here[i] = fetch<VEC>(x + start * every + column);
        if (column < branch_width) branch_here[i] = fetch<VEC>(branch + start + column);
        if (column < offset_width) offset[i] = fetch<VEC>(branch_bias + column);
    }

    float values[LOADS][VEC];
#pragma unroll
    for (int i = 0; i < LOADS; i++)
#pragma unroll
        for (int k = 0; k < VEC; k++) values[i][k] = x_here[i][k];
    if (branch) {
        const RowMask mask(keys, dropout_rate, dropout_site, path_rate, path_site, tokens, row, D);
#pragma unroll
        for (int i = 0; i < LOADS; i++) {
            const int column = (lane + THREADS * i) * VEC;
#pragma unroll
            for (int k = 0; k < VEC; k++) {
                values[i][k] += mask(column + k) * (branch_here[i][k] + offset[i][k]);
                values[i][k] = rounded<T>(values[i][k]);  // the backward will read it from memory
            }
            if (column < width) store_vector<VEC>(total + start + column, values[i]);
        }
    }

    float sum = 0;
#pragma unroll
    for (int i = 0; i < LOADS; i++)
#pragma unroll
        for (int k = 0; k < VEC; k++) sum += values[i][k];
    const float centre = team_sum<THREADS>(sum, scratch) / D;

    float squares = 0;
#pragma unroll
    for (int i = 0; i < LOADS; i++)
#pragma unroll
        for (int k = 0; k < VEC; k++) {
            values[i][k] -= centre;
            if ((lane + THREADS * i) * VEC < width) squares += values[i][k] * values[i][k];
        }
    const float scale = rsqrtf(team_sum<THREADS>(squares, scratch) / D + eps);
    if (lane == 0 && row < rows) {
        mean[row] = centre;
        r[row] = scale;
    }

#pragma unroll
    for (int i = 0; i < LOADS; i++) {
        const int column = (lane + THREADS * i) * VEC;
        if (column >= width) continue;
        float gain[VEC], offset[VEC];
        load_vector<VEC>(weight + column, gain);
        load_vector<VEC>(bias + column, offset);
#pragma unroll
        for (int k = 0; k < VEC; k++) values[i][k] = values[i][k] * scale * gain[k] + offset[k];  // eq. 1 and 2
        store_vector<VEC>(y + start + column, values[i]);
    }
}
