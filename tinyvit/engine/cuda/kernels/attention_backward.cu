// Backward of attention.cu, mirrors tinyvit/ops/attention.py, eq. 7 to 9 there. With A = exp(S - log_sums) computed
// anew, m the dropout mask (1 without dropout) and dO the gradient of o:
//
//     dA = m * (dO v^T)        dS = A * (dA - delta)        delta = row sums of dA * A = row sums of dO * o
//     dq = dS k / sqrt(K)      dk = dS^T q / sqrt(K)        dv = (m * A)^T dO
//
// One block does one head of one image, and each of its warps has the 16 queries and the 16 keys of the same tokens as
// its own. First a warp goes along all queries with its own keys: each tile of S^T and of dA^T is computed once, dv is
// collected, and dS^T is KEPT in shared memory, rounded to T as every factor of a product is. When all of dS is there,
// the warp takes its own keys' rows of dS^T for dk, and its own queries' columns for dq. These are five products, and
// each sum is one warp's: no atomics, and the same result to the bit every time.
//
// If dS does not fit into shared memory, or there are not registers enough for a warp for each strip of 16 tokens, dS
// is not kept: dk is collected beside dv, and then each warp goes along all keys with its own queries and collects dq,
// at the price of computing S and dA twice (seven products). q, k, v and dO are read a second time for that, soon
// enough to come from the cache.
//
// In bfloat16, v is in shared memory for a moment only, where dS^T comes later: then a warp has its own in registers.
// Its k it reads again for each tile. In registers too, that would be 16 more, and 3 blocks for Ti/4 instead of 4.
//
// q, k and v get their biases on their way to shared memory, and dO is multiplied by o, so that all five go through
// registers. cp.async would spare these, but brings bytes as they are: the biases would cost another way out of shared
// memory and back, while 26 loads of 512 bytes from there already feed 40 instructions of the tensor cores, for each
// tile of S.
//
// Bytes for an image and layer of Ti/4 at 32 px in bf16: qkv (74,880), dO and o (24,960 each), log_sums (780) in;
// dqkv (74,880) and its column sums, which are the gradient of the bias (2,304), out: 203 KB. Batched products would
// move 452 KB and more: dO v^T, A^T dO, dS k and dS^T q (75,270 each), softmax (76,050), and the column sums
// (74,880).
//
// On Hopper in bf16, K = 64: 96 registers, so 21 warps at the same time on a multiprocessor. Ti/4: blocks of 5 warps
// and 49,280 bytes of shared memory, 4 blocks at once (20 warps of 64). B/16 at 224 px: 13 warps, 181,376 bytes, 1
// block.

#include "scores.cuh"

// gradient += A M, for a strip A of `rows` columns and a matrix M of as many rows; TRANSPOSED if what lies in shared
// memory is A^T.
template <typename T, int K, bool TRANSPOSED>
__device__ inline void add_strip_product(Sums* gradient, const T* a, const T* m, int stride, int rows) {
#pragma unroll 1
    for (int first = 0; first < rows; first += TILE) {
        const Left<T> left =
            TRANSPOSED ? load_left_transposed(a + first * stride, stride) : load_left(a + first, stride);
        add_products<K>(gradient, left, m + first * stride, stride);
    }
}

// dout and out (B, Q, D), qkv (B, N, 3D) without its bias (3D,), log_sums (B, H, Q); dqkv (B, N, 3D), and partials
// (B, 3D): the sum of its rows for each image. Grid (H, B). If dS is KEPT, a block has a warp for each strip of 16
// tokens; otherwise at most 8 warps, which share the strips out.
template <typename T, int K, bool KEPT>
__global__ void __launch_bounds__(K > 64 ? 256 : KEPT ? 640 : 512, 1)
attention_backward(const T* __restrict__ dout, const T* __restrict__ out, const T* __restrict__ qkv,
                   const float* __restrict__ bias, const float* __restrict__ log_sums, T* __restrict__ dqkv,
                   float* __restrict__ partials, int N, int Q, float mask_rate, int site,
                   const unsigned* __restrict__ keys) {
    constexpr int TILES = WIDE<K> / TILE;
    const int head = blockIdx.x, image = blockIdx.y, D = gridDim.x * K;
    const int warp = threadIdx.x / WARP, warps = blockDim.x / WARP, first = warp * TILE, step = warps * TILE;
    const int padded = KEPT ? step : (N + TILE - 1) / TILE * TILE;
    const float scale = rsqrtf(static_cast<float>(K));
    const size_t start = static_cast<size_t>(image) * N * 3 * D + head * K;
    const size_t out_start = static_cast<size_t>(image) * Q * D + head * K;
    const float* head_bias = bias + head * K;
    if (!head_bias) __builtin_unreachable();  // so that load_strips need not ask

    // A row for each token: q and dO, later k and v in their place. If dS is KEPT, then k and dS^T as well, and floats'
    // v. Otherwise each warp has 16 more rows, for its own k and v, and later for its own q and dO.
    extern __shared__ __align__(16) unsigned char shared[];
    const int of_ds = KEPT ? max(padded, WIDE<K>) : 0, of_v = KEPT && STAYS_SHARED<T> ? WIDE<K> : 0;
    const int stride = (KEPT ? 3 : 2) * WIDE<K> + of_ds + of_v + PADDING<T>;
    T* all = reinterpret_cast<T*>(shared);
    T* own = all + (KEPT ? first * stride + 2 * WIDE<K> : (padded + first) * stride);
    T *own_ds = own + WIDE<K>, *own_v = own_ds + (of_v ? of_ds : 0);
    T* scratches = all + (KEPT ? padded : padded + step) * stride;
    T* scratch = scratches + warp * SCRATCH<T>;
    Query* queries = reinterpret_cast<Query*>(scratches + (KEPT ? 0 : warps * SCRATCH<T>));  // (padded,)
    float* sums = reinterpret_cast<float*>(queries + padded);                                // (warps, 3, WIDE)

    const auto load_keys = [&](T* k, T* v, int first) {
        load_strips<T, K>(stride, {k, v}, {{qkv + start + D, 3 * D, head_bias + D, first, N},
                                           {qkv + start + 2 * D, 3 * D, head_bias + 2 * D, first, N}});
    };
    const auto load_queries = [&](T* q, int first, float* delta) {
        load_strips<T, K>(stride, {q, q + WIDE<K>},
                          {{qkv + start, 3 * D, head_bias, first, Q}, {dout + out_start, D, nullptr, first, Q}}, delta,
                          {out + out_start, D, nullptr, first, Q});
    };
    const auto store = [&](int which, const Sums* gradient, float factor, int strip) {  // dq, dk or dv
        store_strip<T, K>(dqkv + start + which * D, 3 * D, gradient, factor, factor, strip, N);
        add_column_sums<K>(sums + (warp * 3 + which) * WIDE<K>, gradient, factor, strip == first);
    };

    load_keys(own, own_v, first);
#pragma unroll 1
    for (int strip = first; strip < Q; strip += step) {
        const int i = strip + threadIdx.x % TILE;
        const float log_sum = i < Q ? log_sums[(static_cast<size_t>(image) * gridDim.x + head) * Q + i] : NOBODY;
        load_queries(all + strip * stride, strip, &queries[strip].delta);
        if (threadIdx.x % WARP < TILE) queries[i].log_sum = log_sum;
        if (KEPT) break;  // a warp has one strip
    }
    __syncthreads();  // all queries are there

    const ScoreMask mask(keys, mask_rate, site, image, head, Q, N);
#pragma unroll 1
    for (int strip = first; strip < N; strip += step) {
        if (!KEPT && strip > first) load_keys(own, own_v, strip);
        __syncwarp();
        Left<T> value[TILES];
#pragma unroll
        for (int i = 0; i < TILES; i++) value[i] = load_left(own_v + i * TILE, stride);
        Sums dk[TILES], dv[TILES];
#pragma unroll 1
        for (int query = 0; query < Q; query += TILE) {
            Sums a, ds;
            const T* q = all + query * stride;
            score_gradients<T, K, true>(a, ds, own, value, q, stride, strip, query, queries, scale, N, mask);
            if constexpr (KEPT) {
                add_products<K>(dv, left_from_sums(a, own_ds + query, stride), q + WIDE<K>, stride);
                __syncwarp();  // v or floats lay where dS^T comes now
                store_tile(own_ds + query, stride, ds);
            } else {
                add_products<K>(dv, left_from_sums(a, scratch), q + WIDE<K>, stride);
                add_products<K>(dk, left_from_sums(ds, scratch), q, stride);
            }
        }
        store(2, dv, 1, strip);
        if (KEPT) break;
        store(1, dk, scale, strip);
        __syncwarp();  // all lanes are done with the strip
    }
    __syncthreads();  // all of dS is there, or no thread reads queries any more

    if constexpr (KEPT) {
        Sums dk[TILES], dq[TILES];  // dq: zeros for tokens that were not queries
        add_strip_product<T, K, false>(dk, own_ds, all, stride, Q);
        store(1, dk, scale, first);
        if (first < Q) add_strip_product<T, K, true>(dq, all + 3 * WIDE<K> + first, all + 2 * WIDE<K>, stride, N);
        store(0, dq, scale, first);
    } else {
#pragma unroll 1
        for (int strip = first; strip < N; strip += step)
            load_keys(all + strip * stride, all + strip * stride + WIDE<K>, strip);
        __syncthreads();
#pragma unroll 1
        for (int strip = first; strip < N; strip += step) {
            Sums dq[TILES];
            if (strip < Q) {
                load_queries(own, strip, nullptr);
                __syncwarp();
                Left<T> dO[TILES];
#pragma unroll
                for (int i = 0; i < TILES; i++) dO[i] = load_left(own + WIDE<K> + i * TILE, stride);
#pragma unroll 1
                for (int key = 0; key < N; key += TILE) {
                    Sums a, ds;
                    const T* k = all + key * stride;
                    score_gradients<T, K, false>(a, ds, own, dO, k, stride, strip, key, queries, scale, N, mask);
                    add_products<K>(dq, left_from_sums(ds, scratch), k, stride);
                }
                __syncwarp();  // all lanes are done with the strip
            }
            store(0, dq, scale, strip);
        }
    }
    add_warps<K>(partials, sums);
}
