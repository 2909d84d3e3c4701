// The mean of an image's patches, or some of them, and their gradients: mirrors tinyvit/ops/pooling.py (eq. 2, 3, 5, 6).
// The patches are the last of N tokens, after `before` others.
//
// Then the bias and the tanh of the pre_logits layer: mirrors tinyvit/ops/tanh.py (eq. 1 and 2), with the bias of
// tinyvit/ops/linear.py.

#include "numbers.cuh"

// y (B, N, D) to pooled (B, D). Block (c, b) of 32 x 8 threads does 32 V columns of image b: the threads of row s sum
// every eighth token from s on, and the eight sums of a column are then added in order.
// Bytes moved: y in, pooled out.
template <typename T, int V>
__global__ void __launch_bounds__(256) mean_pool(const T* y, T* pooled, int N, int D, int before) {
    __shared__ float parts[8][32 * V];
    const int lane = threadIdx.x, part = threadIdx.y;
    const int column = (blockIdx.x * 32 + lane) * V;
    const T* image = y + static_cast<size_t>(blockIdx.y) * N * D;

    float sums[V] = {};
    if (column < D)
        for_each_row<4, V>(image + column, D, before + part, N, 8, [&](int, const Fetched<T, V>& numbers) {
#pragma unroll
            for (int i = 0; i < V; i++) sums[i] += numbers[i];
        });
#pragma unroll
    for (int i = 0; i < V; i++) parts[part][i * 32 + lane] = sums[i];  // neighbouring lanes, neighbouring banks
    __syncthreads();
    if (part > 0 || column >= D) return;
#pragma unroll
    for (int i = 0; i < V; i++) {
        for (int other = 1; other < 8; other++) sums[i] += parts[other][i * 32 + lane];
        sums[i] /= N - before;
    }
    store_vector<V>(pooled + static_cast<size_t>(blockIdx.y) * D + column, sums);
}

// y (B, N, D) to taken (B, n, D): the patches that are chosen (B, n), or all in their order if that is null. A thread
// moves V columns of one. Bytes moved: taken and chosen in, taken out.
template <typename T, int V>
__global__ void __launch_bounds__(256)
take_rows(const T* y, const int* chosen, T* taken, int batch, int n, int N, int D, int before) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = thread / (D / V), column = thread % (D / V) * V;
    if (row >= batch * n) return;
    const int token = before + (chosen ? chosen[row] : row % n);
    float numbers[V];
    load_vector<V>(y + (static_cast<size_t>(row / n) * N + token) * D + column, numbers);
    store_vector<V>(taken + static_cast<size_t>(row) * D + column, numbers);
}

// The gradients of both, dpooled (B, n, D) to dy (B, N, D). places (B, N - before) says which of the n rows a patch was,
// n or more for none; if that is null, n is 1, and every patch has its part of a mean. The tokens before have none. A
// thread writes V columns of one token.
// Bytes moved: dy out, dpooled and places in; what is read again comes from the cache.
template <typename T, int V>
__global__ void __launch_bounds__(256)
pool_backward(const T* dpooled, const int* places, T* dy, int batch, int n, int N, int D, int before) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = thread / (D / V), column = thread % (D / V) * V;
    if (row >= batch * N) return;
    const int b = row / N, patch = row % N - before;
    const int place = patch < 0 ? n : places ? places[b * (N - before) + patch] : 0;
    float numbers[V] = {};
    if (place < n) load_vector<V>(dpooled + (static_cast<size_t>(b) * n + place) * D + column, numbers);
#pragma unroll
    for (int i = 0; i < V; i++) numbers[i] /= places ? 1 : N - before;
    store_vector<V>(dy + static_cast<size_t>(row) * D + column, numbers);
}

// y = tanh(h + bias), for h (rows, F) and bias (F,). A thread does V columns of one row.
// Bytes moved: h in, y out.
template <typename T, int V>
__global__ void __launch_bounds__(256) bias_tanh(const T* h, const float* bias, T* y, int rows, int F) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = thread / (F / V), column = thread % (F / V) * V;
    if (row >= rows) return;
    const size_t place = static_cast<size_t>(row) * F + column;
    float numbers[V], added[V];
    load_vector<V>(h + place, numbers);
    load_vector<V>(bias + column, added);
#pragma unroll
    for (int i = 0; i < V; i++) numbers[i] = tanhf(numbers[i] + added[i]);
    store_vector<V>(y + place, numbers);
}

// dh = dy (1 - y^2), and sums of its columns for the gradient of the bias: block (., p) does `chunk` rows, and a
// thread sums its V columns over these in order, into row p of partials (P, F).
//
// y is computed anew from h. The y of the forward pass would cost as many bytes, but was rounded: where it is near 1,
// 1 - y^2 is small, and quite another number for the bfloat16 next to y: 0.062 for 0.969, 0.054 for 0.973.
// The buffers must be different ones. Bytes moved: dy and h in, dh out, and 4 for each number of the partial sums.
template <typename T, int V>
__global__ void __launch_bounds__(256)
bias_tanh_backward(const T* __restrict__ dy, const T* __restrict__ h, const float* __restrict__ bias,
                   T* __restrict__ dh, float* partials, int rows, int F, int chunk) {
    const int column = (blockIdx.x * blockDim.x + threadIdx.x) * V;
    if (column >= F) return;
    const int first = blockIdx.y * chunk;

    float sums[V] = {}, added[V];
    load_vector<V>(bias + column, added);
#pragma unroll 4
    for (int row = first; row < min(first + chunk, rows); row++) {
        const size_t place = static_cast<size_t>(row) * F + column;
        float gradient[V], input[V];
        load_vector<V>(dy + place, gradient);
        load_vector<V>(h + place, input);
#pragma unroll
        for (int i = 0; i < V; i++) {
            const float y = tanhf(input[i] + added[i]);
            gradient[i] *= 1 - y * y;
            sums[i] += gradient[i];
        }
        store_vector<V>(dh + place, gradient);
    }
    store_vector<V>(partials + static_cast<size_t>(blockIdx.y) * F + column, sums);
}
