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
template <typename T>
struct Strip {
    const T* matrix;
    int distance;
    const float* bias;
    int first, rows;
};

// What a lane moves of a strip at a time: of one group of columns, every (WARP / LANES)-th row from `top` on, in at
// most 16 registers. The constructor issues all loads; whoever uses the numbers waits for them.
template <typename T, int K>
struct Share {
    using S = Shares<T, K>;
    static constexpr int ALL = TILE * S::LANES / WARP;  // of its rows
    static constexpr int MOST = S::GROUP == 1 ? 8 : 4;  // at a time: more would not stay in registers
    static constexpr int ROWS = ALL < MOST ? ALL : MOST;

    Fetched<T, S::GROUP> fetched[ROWS] = {};
    float added[S::GROUP] = {};
    int top, column, real;  // real: how many rows of the strip there are

    __device__ Share(const Strip<T>& strip, int top, int group)
        : top(top), column(group * S::GROUP), real(column < K ? strip.rows - strip.first : 0) {
        const T* place = strip.matrix + strip.first * strip.distance + column;
#pragma unroll
        for (int i = 0; i < ROWS; i++)
            if (row(i) < real) fetched[i] = fetch<S::GROUP>(place + row(i) * strip.distance);
        if (strip.bias && column < K)
#pragma unroll
            for (int k = 0; k < S::GROUP; k++) added[k] = strip.bias[column + k];
    }

    __device__ int row(int i) const { return top + threadIdx.x % WARP / S::LANES + i * (WARP / S::LANES); }

    __device__ void put(T* strip) const {
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            float values[S::GROUP];
#pragma unroll
            for (int k = 0; k < S::GROUP; k++) values[k] = fetched[i][k] + (row(i) < real ? added[k] : 0);
            store_vector<S::GROUP>(strip + row(i) * STRIDE<T, K> + column, values);
        }
    }
};

// How many rows all lanes together move at a time.
template <typename T, int K>
constexpr int AT_ONCE = Share<T, K>::ROWS * (WARP / Shares<T, K>::LANES);

template <typename T, int K>
__device__ inline void load_strip(T* to, const Strip<T>& strip) {
    using S = Shares<T, K>;
    for (int group = threadIdx.x % S::LANES; group < S::GROUPS; group += S::LANES)  // once, but for large, odd K
#pragma unroll 1
        for (int top = 0; top < TILE; top += AT_ONCE<T, K>) Share<T, K>(strip, top, group).put(to);
}

// Two strips, which wait for memory together.
template <typename T, int K>
__device__ inline void load_strips(T* to, const Strip<T>& strip, T* other_to, const Strip<T>& other_strip) {
    using S = Shares<T, K>;
    for (int group = threadIdx.x % S::LANES; group < S::GROUPS; group += S::LANES)
#pragma unroll 1
        for (int top = 0; top < TILE; top += AT_ONCE<T, K>) {
            const Share<T, K> share(strip, top, group), other(other_strip, top, group);
            share.put(to);
            other.put(other_to);
        }
}

// Sums of products of each row of a strip in shared memory with the same row of one in memory: products (16,).
template <typename T, int K>
__device__ inline void row_products(float* products, const T* left_strip, const Strip<T>& right_strip) {
    using S = Shares<T, K>;
#pragma unroll 1
    for (int top = 0; top < TILE; top += AT_ONCE<T, K>) {
        float sums[Share<T, K>::ROWS] = {};
        for (int group = threadIdx.x % S::LANES; group < S::GROUPS; group += S::LANES) {
            const Share<T, K> share(right_strip, top, group);
#pragma unroll
            for (int i = 0; i < share.ROWS; i++) {
                float left[S::GROUP];
                load_vector<S::GROUP>(left_strip + share.row(i) * STRIDE<T, K> + share.column, left);
#pragma unroll
                for (int k = 0; k < S::GROUP; k++) sums[i] = fmaf(left[k], share.fetched[i][k], sums[i]);
            }
        }
#pragma unroll
        for (int i = 0; i < Share<T, K>::ROWS; i++) {
            for (int away = S::LANES / 2; away > 0; away /= 2) sums[i] += __shfl_xor_sync(ALL_LANES, sums[i], away);
            const int row = top + threadIdx.x % WARP / S::LANES + i * (WARP / S::LANES);
            if (threadIdx.x % S::LANES == 0) products[row] = sums[i];
        }
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
