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

// LayerNorm backward, with the residual connection around it (tinyvit/ops/layer_norm.py, eq. 6 and 7; block.py, eq. 3):
//
//     dx = skip + r (g - mean(g) - n mean(g n))         g = dy * weight        n = (x - mean) r
//     dbranch = dx * m                                  m: the mask of the branch that x is the sum with
//     sums over the rows of dy * n, dy and dbranch:     the gradients of weight, bias and the branch's bias
//
// A team of THREADS threads, usually one warp, has one row at a time in registers, as in the forward. As many
// blocks as run at the same time, two on each multiprocessor, walk over all rows: a thread always has the same columns,
// so that it adds up three sums for each of them in registers, over all its rows. At the end the teams of a block add
// their sums, in shared memory, and each block writes one row of each sum. add_columns (sums.cu) then adds the blocks'
// rows. The order of additions never depends on timing, so the result is repeatable to the bit, as it would not be
// with atomics.
//
// All loads of a row, dy, x, skip and the gain, are issued before the first number is used, so that the thread waits
// for memory once (from 20 numbers a thread on, for skip a second time: there are no registers for it).
//
// Bytes moved for each number of a row: dy, x and skip in, dx and dbranch out, 5 sizeof(T); n is computed again, not
// read. For each block, 12 D bytes of sums.

// Adds the teams' sums of each column in the order of the teams, and writes them to out (D,).
template <int TEAMS, int THREADS, int LOADS, int VEC>
__device__ inline void add_teams(const float (&mine)[LOADS][VEC], float (*shared)[THREADS * LOADS * VEC], float* out,
                                 int D) {
#pragma unroll
    for (int i = 0; i < LOADS; i++)
        store_vector<VEC>(&shared[threadIdx.x / THREADS][(threadIdx.x % THREADS + THREADS * i) * VEC], mine[i]);
    __syncthreads();
    for (int column = threadIdx.x; column < D; column += TEAMS * THREADS) {
        float sum = 0;
#pragma unroll
        for (int team = 0; team < TEAMS; team++) sum += shared[team][column];
        out[column] = sum;
    }
    __syncthreads();  // shared is used for the next sum
}

// Two blocks of BLOCK threads are to fit on a multiprocessor, which limits the registers of a thread.
template <typename T, int THREADS, int LOADS, int VEC, int BLOCK>
__global__ void __launch_bounds__(BLOCK, 2)
layer_norm_backward(const T* dy, const T* x, const float* mean, const float* r, const float* __restrict__ weight,
                    const T* skip, T* dx, const unsigned* keys, float dropout_rate, int dropout_site, float path_rate,
                    int path_site, int tokens, T* dbranch, float* partials, int rows, int D, int skip_every) {
    constexpr int TEAMS = BLOCK / THREADS;
    __shared__ float scratch[BLOCK / WARP];
    alignas(16) __shared__ float shared[TEAMS][THREADS * LOADS * VEC];
    const int lane = threadIdx.x % THREADS;

    const float share = 1.0f / D;
    float dweight[LOADS][VEC] = {}, dbias[LOADS][VEC] = {}, dbranch_bias[LOADS][VEC] = {};
    const int step = gridDim.x * TEAMS, team_row = blockIdx.x * TEAMS + threadIdx.x / THREADS;
    int skip_row = team_row / skip_every, beyond = team_row % skip_every;  // row = skip_row * skip_every + beyond
    const int skip_step = step / skip_every, beyond_step = step % skip_every;
    for (int first = blockIdx.x * TEAMS; first < rows; first += step) {
        const int row = first + threadIdx.x / THREADS;
        const int width = row < rows ? D : 0;  // no columns beyond the last row, but the sums need every thread
        const size_t start = static_cast<size_t>(row) * D;
        const int skip_width = skip && beyond == 0 ? width : 0;

        Fetched<T, VEC> dy_here[LOADS] = {}, x_here[LOADS] = {}, skip_here[LOADS] = {};
        Fetched<float, VEC> gain[LOADS] = {};
#pragma unroll
        for (int i = 0; i < LOADS; i++) {
            const int column = (lane + THREADS * i) * VEC;
            if (column < width) dy_here[i] = fetch<VEC>(dy + start + column);
            if (column < width) x_here[i] = fetch<VEC>(x + start + column);
            if (column < skip_width) skip_here[i] = fetch<VEC>(skip + static_cast<size_t>(skip_row) * D + column);
            if (column < width) gain[i] = fetch<VEC>(weight + column);
        }
        const float centre = row < rows ? mean[row] : 0, scale = row < rows ? r[row] : 0;

        float g[LOADS][VEC], n[LOADS][VEC], sum_g = 0, sum_gn = 0;
#pragma unroll
        for (int i = 0; i < LOADS; i++)
#pragma unroll
            for (int k = 0; k < VEC; k++) {
                n[i][k] = (x_here[i][k] - centre) * scale;
                dweight[i][k] += dy_here[i][k] * n[i][k];  // eq. 7
                dbias[i][k] += dy_here[i][k];
                g[i][k] = dy_here[i][k] * gain[i][k];
                sum_g += g[i][k];
                sum_gn += g[i][k] * n[i][k];
            }
        const float mean_g = team_sum<THREADS>(sum_g, scratch) * share;
        const float mean_gn = team_sum<THREADS>(sum_gn, scratch) * share;

        const RowMask mask(keys, dropout_rate, dropout_site, path_rate, path_site, tokens, row, D);
#pragma unroll
        for (int i = 0; i < LOADS; i++) {
            const int column = (lane + THREADS * i) * VEC;
            float sum[VEC];
#pragma unroll
            for (int k = 0; k < VEC; k++)
                sum[k] = skip_here[i][k] + scale * (g[i][k] - mean_g - n[i][k] * mean_gn);  // eq. 6
            if (column < width) store_vector<VEC>(dx + start + column, sum);
#pragma unroll
            for (int k = 0; k < VEC; k++) {
                sum[k] *= mask(column + k);
                dbranch_bias[i][k] += sum[k];
            }
            if (dbranch && column < width) store_vector<VEC>(dbranch + start + column, sum);
        }
        skip_row += skip_step, beyond += beyond_step;
        if (beyond >= skip_every) skip_row++, beyond -= skip_every;
    }

    float* out = partials + static_cast<size_t>(blockIdx.x) * 3 * D;
    add_teams<TEAMS, THREADS, LOADS, VEC>(dweight, shared, out, D);
    add_teams<TEAMS, THREADS, LOADS, VEC>(dbias, shared, out + D, D);
    add_teams<TEAMS, THREADS, LOADS, VEC>(dbranch_bias, shared, out + 2 * D, D);
}
