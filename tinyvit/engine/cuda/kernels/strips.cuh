// Strips: 16 rows of one head's q, k, v, output or gradient, carried by one warp between memory and shared memory or
// its own registers. A row has K numbers in memory and WIDE, filled up with zeros to whole tiles, in shared memory.

#pragma once
#include "tiles.cuh"

template <int K>
constexpr int WIDE = (K + TILE - 1) / TILE * TILE;

// The distance between two rows in shared memory: an odd multiple of 16 bytes.
template <typename T, int K>
constexpr int STRIDE = WIDE<K> + PADDING<T>;

// How the 32 lanes share 16 rows. Each moves GROUP neighbours at once: 16 bytes where every row begins at a multiple
// of that, one number otherwise. LANES of them, a power of two, are on one row, and the others on the next rows.
template <typename T, int K>
struct Shares {
    static constexpr int GROUP = K * sizeof(T) % 16 == 0 ? 16 / sizeof(T) : 1;
    static constexpr int GROUPS = WIDE<K> / GROUP;
    static constexpr int LANES = GROUPS <= 2 ? 2 : GROUPS <= 4 ? 4 : GROUPS <= 8 ? 8 : GROUPS <= 16 ? 16 : 32;
};

// Rows first to first + 15 of a matrix whose rows begin `distance` numbers apart, plus a bias (K,) if there is one.
// Rows that are not among the first `rows` are zero: whatever is multiplied by them must stay finite.
template <typename T, int K>
__device__ inline void load_strip(T* strip, const T* matrix, int distance, const float* bias, int first, int rows) {
    using S = Shares<T, K>;
    const int lane = threadIdx.x % WARP;
    for (int group = lane % S::LANES; group < S::GROUPS; group += S::LANES) {  // once, but for odd or large K
        const int column = group * S::GROUP;
        float added[S::GROUP] = {};
        if (bias && column < K)
            for (int i = 0; i < S::GROUP; i++) added[i] = bias[column + i];
#pragma unroll 4  // so many loads are under way at the same time
        for (int row = lane / S::LANES; row < TILE; row += WARP / S::LANES) {
            float values[S::GROUP] = {};
            if (first + row < rows && column < K) {
                load_vector<S::GROUP>(matrix + (first + row) * distance + column, values);
                for (int i = 0; i < S::GROUP; i++) values[i] += added[i];
            }
            store_vector<S::GROUP>(strip + row * STRIDE<T, K> + column, values);
        }
    }
}

// Sums of products of each row of a strip with the same row of a matrix in memory: products[first + row].
template <typename T, int K>
__device__ inline void row_products(float* products, const T* strip, const T* matrix, int distance, int first,
                                    int rows) {
    using S = Shares<T, K>;
    const int lane = threadIdx.x % WARP;
#pragma unroll 4
    for (int row = lane / S::LANES; row < TILE; row += WARP / S::LANES) {
        float sum = 0;
        if (first + row < rows)
            for (int column = lane % S::LANES * S::GROUP; column < K; column += S::LANES * S::GROUP) {
                float left[S::GROUP], right[S::GROUP];
                load_vector<S::GROUP>(strip + row * STRIDE<T, K> + column, left);
                load_vector<S::GROUP>(matrix + (first + row) * distance + column, right);
                for (int i = 0; i < S::GROUP; i++) sum = fmaf(left[i], right[i], sum);
            }
        for (int away = S::LANES / 2; away > 0; away /= 2) sum += __shfl_xor_sync(ALL_LANES, sum, away);
        if (lane % S::LANES == 0) products[first + row] = sum;
    }
}

// Write a strip that lies in registers, WIDE / 16 tiles side by side, to rows first and following of a matrix; upper
// is a factor for this thread's rows g, and lower for its rows g + 8. Two neighbouring lanes first swap halves, so
// that each has four neighbours of a row: then a quad writes 16 numbers of a row at once, and not 8 and later the
// other 8, which in bfloat16 would be half of the 32 bytes that memory moves at least.
template <typename T, int K>
__device__ inline void store_strip(T* matrix, int distance, const Sums* tiles, float upper, float lower, int first,
                                   int rows) {
    const int t = threadIdx.x % 4;
    const bool odd = t % 2;
#pragma unroll
    for (int tile = 0; tile < WIDE<K> / TILE; tile++) {
#pragma unroll
        for (int r = 0; r < 2; r++) {
            float values[4];
#pragma unroll
            for (int e = 0; e < 2; e++) {
                const float left = tiles[tile].at[0][2 * r + e], right = tiles[tile].at[1][2 * r + e];
                const float got = __shfl_xor_sync(ALL_LANES, odd ? left : right, 1);
                values[e] = (odd ? got : left) * (r ? lower : upper);
                values[2 + e] = (odd ? right : got) * (r ? lower : upper);
            }
            const int row = first + tile_row(2 * r), column = tile * TILE + t % 2 * 8 + t / 2 * 4;
            if (row >= rows) continue;
            T* place = matrix + row * distance + column;
            if (K % 4 == 0) {
                if (column < K) store_vector<4>(place, values);
            } else {
#pragma unroll
                for (int i = 0; i < 4; i++)
                    if (column + i < K) store(place + i, values[i]);
            }
        }
    }
}

// Add the sum of each column of a strip in registers, times a factor, to sums (WIDE,), which are this warp's own.
template <int K>
__device__ inline void add_column_sums(float* sums, const Sums* tiles, float factor) {
#pragma unroll
    for (int tile = 0; tile < WIDE<K> / TILE; tile++)
#pragma unroll
        for (int half = 0; half < 2; half++)
#pragma unroll
            for (int e = 0; e < 2; e++) {
                float sum = tiles[tile].at[half][e] + tiles[tile].at[half][2 + e];
                for (int away = 4; away < WARP; away *= 2) sum += __shfl_xor_sync(ALL_LANES, sum, away);
                if (threadIdx.x % WARP < 4) sums[tile * TILE + tile_column(half, e)] += sum * factor;
            }
}
