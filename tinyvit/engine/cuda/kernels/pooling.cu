// The mean of an image's tokens, and its gradient: mirrors mean_pool in tinyvit/ops/pooling.py (eq. 2 and 5).

#include "numbers.cuh"

// y (B, N, D) to pooled (B, D). Block (c, b) of 32 x 8 threads does 32 V columns of image b: the threads of row s sum
// every eighth token from s on, and the eight sums of a column are then added in order.
// Bytes moved: y in, pooled out.
template <typename T, int V>
__global__ void __launch_bounds__(256) mean_pool(const T* y, T* pooled, int N, int D) {
    __shared__ float parts[8][32 * V];
    const int lane = threadIdx.x, part = threadIdx.y;
    const int column = (blockIdx.x * 32 + lane) * V;
    const T* image = y + static_cast<size_t>(blockIdx.y) * N * D;

    float sums[V] = {};
    if (column < D)
        for_each_row<4, V>(image + column, D, part, N, 8, [&](int, const Fetched<T, V>& numbers) {
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
        sums[i] /= N;
    }
    store_vector<V>(pooled + static_cast<size_t>(blockIdx.y) * D + column, sums);
}

// dpooled (B, D) to dy (B, N, D): every token gets the same gradient. A thread writes V columns of one token.
// Bytes moved: dy out; dpooled is read once and then comes from the cache.
template <typename T, int V>
__global__ void __launch_bounds__(256) mean_pool_backward(const T* dpooled, T* dy, int batch, int N, int D) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = thread / (D / V), column = thread % (D / V) * V;
    if (row >= batch * N) return;
    float numbers[V];
    load_vector<V>(dpooled + static_cast<size_t>(row / N) * D + column, numbers);
#pragma unroll
    for (int i = 0; i < V; i++) numbers[i] /= N;
    store_vector<V>(dy + static_cast<size_t>(row) * D + column, numbers);
}
