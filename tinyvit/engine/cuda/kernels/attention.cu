// Self-attention forward from q, k, v to o, mirrors tinyvit/ops/attention.py, eq. 2 to 4 there:
// S = q k^T / sqrt(K), A = softmax of each row of S, o = A v, with dropout of A between the last two.
//
// One block does one head of one image. It reads the head's k and v once, adds the biases that the product before it
// left out, and keeps them in shared memory. Each warp then takes strips of 16 queries and goes along the keys, 16 at
// a time: a 16 x 16 tile of S lives in registers for as long as it is needed, and S never reaches memory. The softmax
// does not wait for the end of a row: `highest` and `total` are the largest score so far and the sum of exp(score -
// highest) so far, and when a larger score comes, the sums so far shrink by exp(old - new). So any N will do with the
// same few registers. log_sums, the log of the sum of exp(score) over a row, lets the backward kernel compute A anew,
// tile by tile.
//
// Bytes for an image and layer of Ti/4 at 32 px (N = 65, D = 192, H = 3) in bf16: 3 N D numbers in (74,880 bytes), N
// D numbers (24,960) and H N floats (780) out: 101 KB. Batched products would move more, since S = H N N numbers
// (25,350 bytes) goes to memory and back: a pass that adds the bias and puts heads apart (74,880 in and out), q k^T
// (49,920 in, 25,350 out), softmax (25,350 in and out), A v (50,310 in, 24,960 out), together 351 KB; 401 KB with a
// pass that puts heads side by side again (24,960 in and out). With dropout, a mask comes on top there, and nothing
// here.
//
// On Hopper in bf16, K = 64: 96 registers, so 21 warps at the same time on a multiprocessor. Ti/4: blocks of 5 warps
// and 34,560 bytes of shared memory, 4 blocks at once (20 warps of 64). B/16 at 224 px (N = 197): 7 warps, 76,032
// bytes, 3 blocks (21 warps).

#include "scores.cuh"

constexpr float LOWEST = -3e38f;  // of keys that do not exist: exp(LOWEST - any score) is 0

// qkv (B, N, 3D) without bias, columns (q k v, head, K); bias (3D,); out (B, Q, D); log_sums (B, H, Q). Grid (H, B),
// blocks of at most 256 threads. For 640 at once, four blocks of Ti/4, a thread may have 96 registers.
template <typename T, int K>
__global__ void __launch_bounds__(K <= 64 ? 640 : 256, 1)
attention(const T* __restrict__ qkv, const float* __restrict__ bias, T* __restrict__ out,
          float* __restrict__ log_sums, int N, int Q, float mask_rate, int site, const unsigned* __restrict__ keys) {
    constexpr int TILES = WIDE<K> / TILE, ROW = STRIDE<T, K>;
    const int head = blockIdx.x, image = blockIdx.y, D = gridDim.x * K;
    const int warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
    const int padded = (N + TILE - 1) / TILE * TILE;  // keys, in whole tiles
    const float scale = rsqrtf(static_cast<float>(K));
    const T* head_q = qkv + static_cast<size_t>(image) * N * 3 * D + head * K;
    const float* head_bias = bias + head * K;
    if (!head_bias) __builtin_unreachable();  // so that load_strips need not ask

    extern __shared__ __align__(16) unsigned char shared[];
    T* k = reinterpret_cast<T*>(shared);          // (padded, WIDE), as v
    T* v = k + padded * ROW;
    T* q = v + padded * ROW + warp * TILE * ROW;  // (16, WIDE), this warp's strip
    T* scratch = v + (padded + warps * TILE) * ROW + warp * SCRATCH<T>;

    // The first strip of queries comes with the warp's last keys and values.
    const int first = warp * TILE;
    for (int key = (N - 1 - first) / (warps * TILE) * (warps * TILE) + first; key >= first; key -= warps * TILE)
        load_strips<T, K>(ROW, {q, k + key * ROW, v + key * ROW},
                          {{head_q, 3 * D, head_bias, key, Q},
                           {head_q + D, 3 * D, head_bias + D, key, N},
                           {head_q + 2 * D, 3 * D, head_bias + 2 * D, key, N}});
    __syncthreads();  // now all keys and values are there for every warp

    const ScoreMask mask(keys, mask_rate, site, image, head, Q, N);
    for (int first_query = first; first_query < Q; first_query += warps * TILE) {
        if (first_query > first) load_strips<T, K>(ROW, {q}, {{head_q, 3 * D, head_bias, first_query, Q}});
        __syncwarp();
        Left<T> query[TILES];
#pragma unroll
        for (int i = 0; i < TILES; i++) query[i] = load_left(q + i * TILE, ROW);

        Sums o[TILES];
        float highest[2] = {LOWEST, LOWEST}, total[2] = {0, 0};  // of rows g and g + 8
        for (int first_key = 0; first_key < N; first_key += TILE) {
            Sums s;
#pragma unroll
            for (int i = 0; i < TILES; i++)
                add_product_transposed(s, query[i], k + first_key * ROW + i * TILE, ROW);  // eq. 2

#pragma unroll
            for (int r = 0; r < 2; r++) {
                float new_highest = highest[r];
#pragma unroll
                for (int half = 0; half < 2; half++)
#pragma unroll
                    for (int e = 2 * r; e < 2 * r + 2; e++) {
                        const bool real = first_key + tile_column(half, e) < N;
                        s.at[half][e] = real ? s.at[half][e] * scale : LOWEST;
                        new_highest = fmaxf(new_highest, s.at[half][e]);
                    }
                new_highest = quad_max(new_highest);
                const float shrink = __expf(highest[r] - new_highest);  // 0 the first time
                highest[r] = new_highest;
                total[r] *= shrink;
#pragma unroll
                for (int i = 0; i < TILES; i++)
#pragma unroll
                    for (int half = 0; half < 2; half++)
#pragma unroll
                        for (int e = 2 * r; e < 2 * r + 2; e++) o[i].at[half][e] *= shrink;
#pragma unroll
                for (int half = 0; half < 2; half++)
#pragma unroll
                    for (int e = 2 * r; e < 2 * r + 2; e++) {
                        const float a = __expf(s.at[half][e] - new_highest);  // eq. 3, not yet divided by the sum
                        total[r] += a;
                        s.at[half][e] = a * mask(first_query + tile_row(e), first_key + tile_column(half, e));
                    }
            }

            const Left<T> a = left_from_sums(s, scratch);
            add_products<K>(o, a, v + first_key * ROW, ROW);  // eq. 4
        }

#pragma unroll
        for (int r = 0; r < 2; r++) {
            total[r] = quad_sum(total[r]);
            const int i = first_query + tile_row(2 * r);
            if (threadIdx.x % 4 == 0 && i < Q)
                log_sums[(static_cast<size_t>(image) * gridDim.x + head) * Q + i] = highest[r] + logf(total[r]);
        }
        store_strip<T, K>(out + static_cast<size_t>(image) * Q * D + head * K, D, o, 1 / total[0], 1 / total[1],
                          first_query, Q);
        __syncwarp();  // all lanes are done with q before the next strip comes
    }
}
