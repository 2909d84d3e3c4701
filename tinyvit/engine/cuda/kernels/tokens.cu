// From embedded patches to the tokens of the first block, and back: the bias of the patches, the class token, the
// position embedding and dropout in one pass. Mirrors ops/linear.py (the bias), ops/embedding.py (eq. 1 to 4) and
// ops/dropout.py in tinyvit/.
//
// N tokens of width D for each image: T patches, after a class token if there is one. A thread does V columns of one
// token.

#include "noise.cuh"
#include "numbers.cuh"

// x (B, N, D) from the patches' product (B, T, D), without its bias. class_token (D,) and position (N, D) can be null.
// Bytes moved: the product in, x out; bias, class token and position are read once and stay in the cache.
template <typename T, int V>
__global__ void __launch_bounds__(256)
add_tokens(const T* product, const float* bias, const float* class_token, const float* position,
           const unsigned* keys, float dropout_rate, int dropout_site, float path_rate, int path_site, int mask_tokens,
           T* x, int batch, int N, int D) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = thread / (D / V), column = thread % (D / V) * V;
    if (row >= batch * N) return;
    const int b = row / N, n = row % N;
    const int before = class_token ? 1 : 0;  // tokens before the patches

    float sum[V], place[V] = {};
    if (position) load_vector<V>(position + n * D + column, place);
    if (n < before) {
        load_vector<V>(class_token + column, sum);
    } else {
        const size_t patch = static_cast<size_t>(b) * (N - before) + n - before;
        float added[V];
        load_vector<V>(bias + column, added);
        load_vector<V>(product + patch * D + column, sum);
#pragma unroll
        for (int i = 0; i < V; i++) sum[i] += added[i];
    }
    const RowMask mask(keys, dropout_rate, dropout_site, path_rate, path_site, mask_tokens, row, D);
#pragma unroll
    for (int i = 0; i < V; i++) sum[i] = mask(column + i) * (sum[i] + place[i]);
    store_vector<V>(x + static_cast<size_t>(row) * D + column, sum);
}

// dx (B, N, D) to the gradient of the patches' product, dproduct (B, T, D), and to sums over images for what all
// images share. Block (., p) does `chunk` images, and a thread sums its V columns of one token over these in order.
// partials has, for P = gridDim.y: (P, T, D) for the patches, then (P, D) for the class token, if there is one.
// Two images are under way at a time. Bytes moved: dx in, dproduct out, and 4 for each number of the partial sums.
template <typename T, int V>
__global__ void __launch_bounds__(256)
add_tokens_backward(const T* __restrict__ dx, const unsigned* __restrict__ keys, float dropout_rate,
                    int dropout_site, float path_rate, int path_site, int mask_tokens, T* __restrict__ dproduct,
                    float* partials, int batch, int N, int D, int before, int chunk) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    const int n = thread / (D / V), column = thread % (D / V) * V;
    if (n >= N) return;
    const int patches = N - before;
    const int first = blockIdx.y * chunk;

    float sums[V] = {};
    const T* token = dx + static_cast<size_t>(n) * D + column;
    for_each_row<2, V>(token, N * D, first, min(first + chunk, batch), 1, [&](int b, const Fetched<T, V>& here) {
        const RowMask mask(keys, dropout_rate, dropout_site, path_rate, path_site, mask_tokens, b * N + n, D);
        float numbers[V];
#pragma unroll
        for (int i = 0; i < V; i++) {
            numbers[i] = mask(column + i) * here[i];
            sums[i] += numbers[i];
        }
        if (n >= before)
            store_vector<V>(dproduct + (static_cast<size_t>(b) * patches + n - before) * D + column, numbers);
    });
    const size_t patch_sums = static_cast<size_t>(patches) * D;
    float* place = n < before ? partials + gridDim.y * patch_sums + blockIdx.y * D
                              : partials + blockIdx.y * patch_sums + (n - before) * D;
    store_vector<V>(place + column, sums);
}
