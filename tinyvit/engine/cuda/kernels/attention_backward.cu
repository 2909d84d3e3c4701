// Backward of attention.cu, mirrors tinyvit/ops/attention.py, eq. 7 to 9 there. With A = exp(S - log_sums) computed
// anew, m the dropout mask (1 without dropout) and dO the gradient of o:
//
//     dA = m * (dO v^T)        dS = A * (dA - delta)        delta = row sums of dA * A = row sums of dO * o
//     dq = dS k / sqrt(K)      dk = dS^T q / sqrt(K)        dv = (m * A)^T dO
//
// One block does one head of one image, in two passes over the tiles of S. In the first, each warp has 16 queries as
// its own and goes along all keys: it collects dq. In the second, each has 16 keys as its own and goes along all
// queries: it collects dk, then dv. So each sum is one warp's: no atomics, and the same result to the bit every time,
// at the price of computing S three times and dA twice (8 products instead of 5). All three are one function: "own"
// and "all" change roles.
//
// Shared memory holds two matrices that all warps read and two strips for each warp. With few tokens (Ti/4: 5 strips,
// 5 warps) the strips together are whole matrices, and the second pass finds everything in place. Otherwise q, k, v
// and dO are read a second time, soon enough to come from the cache.
//
// Bytes for an image and layer of Ti/4 at 32 px in bf16: qkv (74,880), dO and o (24,960 each), log_sums (780) in;
// dqkv (74,880) and its column sums, which are the gradient of the bias (2,304), out: 203 KB. Batched products would
// move 452 KB and more: dO v^T, A^T dO, dS k and dS^T q (75,270 each), softmax (76,050), and the column sums
// (74,880).
//
// On Hopper in bf16, K = 64: 126 registers, so 16 warps at the same time on a multiprocessor. Ti/4: blocks of 5 warps
// and 50,560 bytes of shared memory, 3 blocks at once (15 warps of 64). B/16 at 224 px: 7 warps, 99,200 bytes, 2
// blocks (14).

#include "score_mask.cuh"
#include "strips.cuh"

// Two matrices in shared memory, or a warp's strips of them: the first is a factor in S, the second in dO v^T.
template <typename T>
struct Pair {
    T *first, *second;
};

struct Scores {
    const float *log_sums, *delta;  // (Q,), in shared memory
    int N, Q;
    float scale;
    ScoreMask mask;
};

enum Wanted { DQ, DK, DV };

// One gradient of one strip: dq sqrt(K), dk sqrt(K) or dv. For DQ, own = (q, dO) and all = (k, v): rows of a tile are
// queries, columns are keys. For DK and DV, own = (k, v) and all = (q, dO): tiles are those of S^T. dk and dv are
// collected one after the other, since both at once need more registers than there are for two blocks' warps.
template <typename T, int K, Wanted WANTED>
__device__ inline void strip_gradient(Sums* gradient, Pair<T> own, Pair<T> all, int first_own, const Scores& scores,
                                      T* scratch) {
    constexpr int TILES = WIDE<K> / TILE, ROW = STRIDE<T, K>;
    const int columns = WANTED == DQ ? scores.N : scores.Q;
    Left<T> first_left[TILES], second_left[TILES];
#pragma unroll
    for (int i = 0; i < TILES; i++) {
        first_left[i] = load_left(own.first + i * TILE, ROW);
        if (WANTED != DV) second_left[i] = load_left(own.second + i * TILE, ROW);
    }
#pragma unroll 1
    for (int first = 0; first < columns; first += TILE) {
        Sums s, da;  // or their transposes
#pragma unroll
        for (int i = 0; i < TILES; i++) {
            add_product_transposed(s, first_left[i], all.first + first * ROW + i * TILE, ROW);
            if (WANTED != DV) add_product_transposed(da, second_left[i], all.second + first * ROW + i * TILE, ROW);
        }
#pragma unroll
        for (int half = 0; half < 2; half++)
#pragma unroll
            for (int e = 0; e < 4; e++) {
                const int row = first_own + tile_row(e), column = first + tile_column(half, e);
                const int i = WANTED == DQ ? row : column, j = WANTED == DQ ? column : row;
                // For queries beyond Q, q and dO are zero, and so is whatever comes of them.
                const float a = j < scores.N ? __expf(s.at[half][e] * scores.scale - scores.log_sums[i]) : 0;
                const float mask = scores.mask(i, j);
                s.at[half][e] = WANTED == DV ? mask * a : a * (mask * da.at[half][e] - scores.delta[i]);
            }
        const Left<T> left = left_from_sums(s, scratch);
        const T* right = (WANTED == DV ? all.second : all.first) + first * ROW;
#pragma unroll
        for (int i = 0; i < TILES; i++) add_product(gradient[i], left, right + i * TILE, ROW);
    }
}

// dout and out (B, Q, D), qkv (B, N, 3D) without its bias (3D,), log_sums (B, H, Q); dqkv (B, N, 3D), and partials
// (B, 3D): the sum of its rows for each image. Grid (H, B).
template <typename T, int K>
__global__ void __launch_bounds__(256, K <= 64 ? 2 : 1)
attention_backward(const T* __restrict__ dout, const T* __restrict__ out, const T* __restrict__ qkv,
                   const float* __restrict__ bias, const float* __restrict__ log_sums, T* __restrict__ dqkv,
                   float* __restrict__ partials, int N, int Q, float mask_rate, int site,
                   const unsigned* __restrict__ keys) {
    constexpr int TILES = WIDE<K> / TILE, ROW = STRIDE<T, K>;
    const int head = blockIdx.x, image = blockIdx.y, D = gridDim.x * K;
    const int warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
    const int padded = (N + TILE - 1) / TILE * TILE, padded_queries = (Q + TILE - 1) / TILE * TILE;
    const size_t start = static_cast<size_t>(image) * N * 3 * D + head * K;
    const size_t out_start = static_cast<size_t>(image) * Q * D + head * K;
    const float* head_bias = bias + head * K;

    extern __shared__ __align__(16) unsigned char shared[];
    T* room = reinterpret_cast<T*>(shared);
    Pair<T> all = {room, room + padded * ROW};
    const Pair<T> strips = {all.second + padded * ROW, all.second + (padded + warps * TILE) * ROW};
    Pair<T> own = {strips.first + warp * TILE * ROW, strips.second + warp * TILE * ROW};
    T* scratch = strips.second + warps * TILE * ROW;
    float* sums = reinterpret_cast<float*>(scratch + warps * SCRATCH<T>);  // (warps, 3, WIDE)
    float* row_log_sums = sums + warps * 3 * WIDE<K>;                       // (padded_queries,)
    float* delta = row_log_sums + padded_queries;                           // (padded_queries,)
    scratch += warp * SCRATCH<T>;
    float* own_sums = sums + warp * 3 * WIDE<K>;

    for (int i = threadIdx.x % WARP; i < 3 * WIDE<K>; i += WARP) own_sums[i] = 0;
    for (int i = threadIdx.x; i < padded_queries; i += blockDim.x)
        row_log_sums[i] = i < Q ? log_sums[(static_cast<size_t>(image) * gridDim.x + head) * Q + i] : 0;
#pragma unroll 1
    for (int first = warp * TILE; first < N; first += warps * TILE) {
        load_strips<T, K>(all.first + first * ROW, {qkv + start + D, 3 * D, head_bias + D, first, N},
                          all.second + first * ROW, {qkv + start + 2 * D, 3 * D, head_bias + 2 * D, first, N});
    }
    __syncthreads();  // all keys and values, and log_sums, are there

    const Scores scores = {row_log_sums, delta, N, Q, rsqrtf(static_cast<float>(K)),
                           ScoreMask(keys, mask_rate, site, image, head, Q, N)};

    // First pass: dq. Tokens that were not queries get zeros.
#pragma unroll 1
    for (int first = warp * TILE; first < N; first += warps * TILE) {
        Sums dq[TILES];
        if (first < Q) {
            load_strips<T, K>(own.first, {qkv + start, 3 * D, head_bias, first, Q},
                              own.second, {dout + out_start, D, nullptr, first, Q});
            __syncwarp();
            row_products<T, K>(delta + first, own.second, {out + out_start, D, nullptr, first, Q});
            __syncwarp();
            strip_gradient<T, K, DQ>(dq, own, all, first, scores, scratch);
            __syncwarp();  // all lanes are done with the strips
        }
        store_strip<T, K>(dqkv + start, 3 * D, dq, scores.scale, scores.scale, first, N);
        add_column_sums<K>(own_sums, dq, scores.scale);
    }

    __syncthreads();  // delta is there for every query, and nobody reads keys and values as `all` any more
    const bool in_place = padded <= warps * TILE;
    if (in_place) {
        own = {all.first + warp * TILE * ROW, all.second + warp * TILE * ROW};
        all = strips;
    } else {
#pragma unroll 1
        for (int first = warp * TILE; first < Q; first += warps * TILE) {
            load_strips<T, K>(all.first + first * ROW, {qkv + start, 3 * D, head_bias, first, Q},
                              all.second + first * ROW, {dout + out_start, D, nullptr, first, Q});
        }
        __syncthreads();
    }

    // Second pass: dk and dv.
#pragma unroll 1
    for (int first = warp * TILE; first < N; first += warps * TILE) {
        if (!in_place) {
            load_strips<T, K>(own.first, {qkv + start + D, 3 * D, head_bias + D, first, N},
                              own.second, {qkv + start + 2 * D, 3 * D, head_bias + 2 * D, first, N});
        }
        __syncwarp();
        {
            Sums dk[TILES];
            strip_gradient<T, K, DK>(dk, own, all, first, scores, scratch);
            store_strip<T, K>(dqkv + start + D, 3 * D, dk, scores.scale, scores.scale, first, N);
            add_column_sums<K>(own_sums + WIDE<K>, dk, scores.scale);
        }
        {
            Sums dv[TILES];
            strip_gradient<T, K, DV>(dv, own, all, first, scores, scratch);
            store_strip<T, K>(dqkv + start + 2 * D, 3 * D, dv, 1, 1, first, N);
            add_column_sums<K>(own_sums + 2 * WIDE<K>, dv, 1);
        }
        __syncwarp();  // all lanes are done with the strips
    }

    // The warps' column sums, added in fixed order.
    __syncthreads();
    for (int i = threadIdx.x; i < 3 * K; i += blockDim.x) {
        float sum = 0;
        for (int w = 0; w < warps; w++) sum += sums[(w * 3 + i / K) * WIDE<K> + i % K];
        partials[(static_cast<size_t>(image) * 3 + i / K) * D + head * K + i % K] = sum;
    }
}
