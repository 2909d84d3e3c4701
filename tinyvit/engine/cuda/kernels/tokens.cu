// From embedded patches to the tokens of the first block, and back: the bias of the patches, corruption, the class token
// and registers, the position embedding and dropout in one pass. Mirrors ops/linear.py (the bias), ops/corruption.py
// (eq. 1), ops/embedding.py (eq. 1 to 4), ops/position_tables.py (eq. 1) and ops/dropout.py in tinyvit/.
//
// N tokens of width D for each image: T patches, after `before` others that were learned, if there are any. A thread
// does V columns of one token.

#include "noise.cuh"
#include "numbers.cuh"

// Which patches of an image are corrupted, and what is shown in their place: mirrors draw_corruption in
// tinyvit/ops/corruption.py.
//
// Block b does image b. Its T patches are sorted by random numbers, equal ones by their index: places (B, T) is where
// each of them comes, and the first n are chosen (B, n). source (B, T) is the patch that each shows: with a chance of
// `masked`, a chosen one shows none, -1, and with one of `changed` none or another. shows (B, T, T) is the same as a
// matrix, S of eq. 2. Three draws from number `site` on. Bytes moved: what it writes.
template <typename T>
__global__ void __launch_bounds__(256)
draw_corruption(const unsigned* keys, int site, float masked, float changed, int* chosen, int* places, int* source,
                T* shows, int n, int patches) {
    extern __shared__ float drawn[];
    const int image = blockIdx.x;
    const unsigned key = image_key(keys, site, image);
    for (int t = threadIdx.x; t < patches; t += blockDim.x) drawn[t] = uniform(key, t);
    __syncthreads();
    for (int t = threadIdx.x; t < patches; t += blockDim.x) {
        int place = 0, shown = t;
        for (int j = 0; j < patches; j++) place += drawn[j] < drawn[t] || (drawn[j] == drawn[t] && j < t);
        if (place < n) {
            chosen[image * n + place] = t;
            const float fate = uniform(keys, site + 1, image, place);
            if (fate < masked) {
                shown = -1;
            } else if (fate < changed) {
                shown = static_cast<int>(uniform(keys, site + 2, image, place) * (patches - 1));
                shown += shown >= t;  // any but itself
            }
        }
        const size_t row = static_cast<size_t>(image) * patches + t;
        places[row] = place;
        source[row] = shown;
        for (int j = 0; j < patches; j++) store(shows + row * patches + j, j == shown);
    }
}

// x (B, N, D) from the patches' product (B, T, D), without its bias. others (before, D) come first. source (B, T), if it
// is not null, says which patch is shown where, and below 0 mask_token (D,) is. position (placed + T, D), which can be
// null, is for the first `placed` tokens and the patches; with columns (across, D/2), it has (T / across, D/2) instead,
// for rows of patches.
// Bytes moved: product and source in, x out; whatever all images share is read once and stays in the cache.
template <typename T, int V>
__global__ void __launch_bounds__(256)
add_tokens(const T* product, const float* bias, const float* others, const float* position, const float* columns,
           const int* source, const float* mask_token, const unsigned* keys, float dropout_rate, int dropout_site,
           float path_rate, int path_site, int mask_tokens, T* x, int batch, int N, int D, int before, int placed,
           int across) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = thread / (D / V), column = thread % (D / V) * V;
    if (row >= batch * N) return;
    const int b = row / N, n = row % N;
    const size_t first_patch = static_cast<size_t>(b) * (N - before);
    const int shown = n < before ? 0 : source ? source[first_patch + n - before] : n - before;

    float sum[V], place[V] = {};
    if (position && (n < placed || n >= before)) {
        const int half = D / 2, entry = n < before ? n : n - before + placed;
        const float* from = position + entry * D + column;
        if (columns)
            from = column < half ? position + entry / across * half + column
                                 : columns + entry % across * half + column - half;
        load_vector<V>(from, place);
    }
    if (n < before) {
        load_vector<V>(others + n * D + column, sum);
    } else if (shown < 0) {
        load_vector<V>(mask_token + column, sum);
    } else {
        const size_t patch = first_patch + shown;
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

// dx (B, N, D) to the gradient of the patches as they are shown, dpatches (B, T, D), and to sums over images for what all
// images share. Block (., p) does `chunk` images, and a thread sums its V columns of one token over these in order.
// partials has, for P = gridDim.y: (P, T, D) for the patches; with HIDES as much for those that are masked, which do not
// count there then; and (P, before, D) for the tokens before the patches.
// Two images are under way at a time. Bytes moved: dx in, dpatches out, and 4 for each number of the partial sums.
template <typename T, int V, bool HIDES>
__global__ void __launch_bounds__(256)
add_tokens_backward(const T* __restrict__ dx, const unsigned* __restrict__ keys, float dropout_rate,
                    int dropout_site, float path_rate, int path_site, int mask_tokens,
                    const int* __restrict__ source, T* __restrict__ dpatches, float* partials, int batch, int N, int D,
                    int before, int chunk) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    const int n = thread / (D / V), column = thread % (D / V) * V;
    if (n >= N) return;
    const int patches = N - before;
    const int first = blockIdx.y * chunk;

    float sums[V] = {}, hidden[V] = {};
    const T* token = dx + static_cast<size_t>(n) * D + column;
    for_each_row<2, V>(token, N * D, first, min(first + chunk, batch), 1, [&](int b, const Fetched<T, V>& here) {
        const RowMask mask(keys, dropout_rate, dropout_site, path_rate, path_site, mask_tokens, b * N + n, D);
        const bool is_hidden = HIDES && n >= before && source[b * patches + n - before] < 0;
        float numbers[V];
#pragma unroll
        for (int i = 0; i < V; i++) {
            numbers[i] = mask(column + i) * here[i];
            sums[i] += is_hidden ? 0 : numbers[i];
            hidden[i] += is_hidden ? numbers[i] : 0;
        }
        if (n >= before)
            store_vector<V>(dpatches + (static_cast<size_t>(b) * patches + n - before) * D + column, numbers);
    });
    const size_t all = static_cast<size_t>(gridDim.y) * patches * D;  // the sums of patches
    float* place = n < before ? partials + (HIDES ? 2 : 1) * all + (blockIdx.y * before + n) * D
                              : partials + (static_cast<size_t>(blockIdx.y) * patches + n - before) * D;
    store_vector<V>(place + column, sums);
    if (HIDES && n >= before) store_vector<V>(place + all + column, hidden);
}
