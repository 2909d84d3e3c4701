// What the kernels of attention do with scores: dropout of A, and in the backward, tiles of m * A and of dS.

#pragma once
#include "noise.cuh"
#include "strips.cuh"

// What number (i, j) of one head's A (Q, N) is multiplied by.
struct ScoreMask {
    float rate;         // 0: nothing is drawn, and keys may be a null pointer
    float kept;         // the factor of what is not dropped
    unsigned key;       // of the image
    unsigned start, N;  // the number in its image that A begins with; numbers in a row

    __device__ ScoreMask(const unsigned* keys, float rate, int site, int image, int head, int Q, int N)
        : rate(rate),
          kept(1 / (1 - rate)),
          key(rate > 0 ? image_key(keys, site, image) : 0),
          start(head * Q * N),
          N(N) {}

    __device__ float operator()(int i, int j) const {
        if (rate == 0) return 1;
        return uniform(key, start + i * N + j) < rate ? 0 : kept;
    }
};

// What the backward needs of a query besides q and dO.
struct alignas(8) Query {
    float log_sum, delta;
};

constexpr float NOBODY = 3e38f;  // the log-sum of a query that does not exist: exp(any score - NOBODY) is 0

// A tile of m * A and one of dS, for 16 rows of a warp's own and 16 of those that all warps read. One are queries, with
// q and dO, the others are keys, with k and v; in shared memory the second follows the first in the same row. If the
// own are keys, tiles are TRANSPOSED: their rows are keys, and their columns queries.
template <typename T, int K, bool TRANSPOSED>
__device__ inline void score_gradients(Sums& a, Sums& ds, const T* own, const Left<T>* own_second, const T* all,
                                       int stride, int first_own, int first, const Query* queries, float scale, int N,
                                       const ScoreMask& mask) {
#pragma unroll
    for (int i = 0; i < WIDE<K> / TILE; i++) {
        add_product_transposed(ds, own_second[i], all + WIDE<K> + i * TILE, stride);           // dO v^T
        add_product_transposed(a, load_left(own + i * TILE, stride), all + i * TILE, stride);  // S
    }
#pragma unroll
    for (int half = 0; half < 2; half++)
#pragma unroll
        for (int e = 0; e < 4; e++) {
            const int row = first_own + tile_row(e), column = first + tile_column(half, e);
            const int i = TRANSPOSED ? column : row, j = TRANSPOSED ? row : column;
            const Query query = queries[i];
            const float exact = j < N ? __expf(a.at[half][e] * scale - query.log_sum) : 0, m = mask(i, j);
            a.at[half][e] = m * exact;
            ds.at[half][e] = exact * (m * ds.at[half][e] - query.delta);
        }
}
