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
// Rows that are not among the first `rows` are zeros, plus the bias: whatever is multiplied by them must stay finite.
template <typename T>
struct Strip {
    const T* matrix;
    int distance;
    const float* bias;
    int first, rows;
};

// What a lane moves of a strip at a time: of one group of columns, every (WARP / LANES)-th row from `top` on, in at
// most 16 registers. `load` issues all loads; whoever uses the numbers waits for them.
template <typename T, int K>
struct Share {
    using S = Shares<T, K>;
    static constexpr int ALL = TILE * S::LANES / WARP;  // of its rows
    static constexpr int MOST = S::GROUP == 1 ? 8 : 4;  // at a time: more would not stay in registers
    static constexpr int ROWS = ALL < MOST ? ALL : MOST;

    Fetched<T, S::GROUP> fetched[ROWS] = {};
    float added[S::GROUP] = {};
    int top = 0, column = 0, real = 0;  // real: how many rows of the strip there are

    __device__ void load(const Strip<T>& strip, int from_row, int group) {
        top = from_row, column = group * S::GROUP, real = column < K ? strip.rows - strip.first : 0;
        const T* place = strip.matrix + strip.first * strip.distance + column;
#pragma unroll
        for (int i = 0; i < ROWS; i++)
            if (row(i) < real) fetched[i] = fetch<S::GROUP>(place + row(i) * strip.distance);
        if (strip.bias && column < K)
#pragma unroll
            for (int k = 0; k < S::GROUP; k++) added[k] = strip.bias[column + k];
    }

    __device__ int row(int i) const { return top + threadIdx.x % WARP / S::LANES + i * (WARP / S::LANES); }

    __device__ void put(T* strip, int stride) const {
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            float values[S::GROUP];
#pragma unroll
            for (int k = 0; k < S::GROUP; k++) values[k] = fetched[i][k] + added[k];
            store_vector<S::GROUP>(strip + (row(i) * stride + column), values);
        }
    }
};

// How many rows all lanes together move at a time.
template <typename T, int K>
constexpr int AT_ONCE = Share<T, K>::ROWS * (WARP / Shares<T, K>::LANES);

// Strips to shared memory. All of them are under way before the first number is put there, so that they wait for memory
// together; so is `other`, if wanted: then every second number from `products` on becomes the sum of products of a row
// of the last strip, which has no bias, with the same row of that.
template <typename T, int K, int COUNT>
__device__ inline void load_strips(int stride, T* const (&to)[COUNT], const Strip<T> (&strips)[COUNT],
                                   float* products = nullptr, const Strip<T>& other = {}) {
    using S = Shares<T, K>;
    constexpr int ROWS = Share<T, K>::ROWS;
#pragma unroll 1
    for (int top = 0; top < TILE; top += AT_ONCE<T, K>) {
        float sums[ROWS] = {};
        for (int group = threadIdx.x % S::LANES; group < S::GROUPS; group += S::LANES) {  // once, but for large, odd K
            Share<T, K> shares[COUNT], factors;
#pragma unroll
            for (int s = 0; s < COUNT; s++) shares[s].load(strips[s], top, group);
            if (products) factors.load(other, top, group);
#pragma unroll
            for (int s = 0; s < COUNT; s++) shares[s].put(to[s], stride);
#pragma unroll
            for (int i = 0; i < ROWS; i++)
#pragma unroll
                for (int k = 0; k < S::GROUP; k++)
                    sums[i] = fmaf(shares[COUNT - 1].fetched[i][k], factors.fetched[i][k], sums[i]);
        }
        if (!products) continue;
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            for (int away = S::LANES / 2; away > 0; away /= 2) sums[i] += __shfl_xor_sync(ALL_LANES, sums[i], away);
            const int row = top + threadIdx.x % WARP / S::LANES + i * (WARP / S::LANES);
            if (threadIdx.x % S::LANES == 0) products[2 * row] = sums[i];
        }
    }
}

// A strip in registers += A M, for a tile A and 16 rows M of a matrix in shared memory.
template <int K, typename T>
__device__ inline void add_products(Sums* strip, const Left<T>& a, const T* m, int stride) {
#pragma unroll
    for (int i = 0; i < WIDE<K> / TILE; i++) add_product(strip[i], a, m + i * TILE, stride);
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
            T* place = matrix + (row * distance + column);
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

// Of 2 HALF columns of which two lanes, `away` from each other, have sums over different rows, each gets the sums over
// all rows of one half: it gives the other lane what it has of the other half. Returns the first of those it gets.
template <int HALF>
__device__ inline int share_columns(float* parts, int away) {
    const bool upper = threadIdx.x & away;
#pragma unroll
    for (int i = 0; i < HALF; i++) {
        const float given = upper ? parts[i] : parts[HALF + i], kept = upper ? parts[HALF + i] : parts[i];
        parts[i] = kept + __shfl_xor_sync(ALL_LANES, given, away);
    }
    return upper ? HALF : 0;
}

// The sum of each column of a strip in registers, times a factor, in sums (WIDE,), which are this warp's own; added to
// what is there, but for the first strip. Eight lanes have the same columns, and rows g and g + 8 for g = 0..7: they
// share these columns out.
template <int K>
__device__ inline void add_column_sums(float* sums, const Sums* tiles, float factor, bool is_first) {
    constexpr int COLUMNS = WIDE<K> / 4, ALL = (COLUMNS + 7) / 8 * 8;  // of a lane, filled up with zeros to eighths
    float parts[ALL] = {};
#pragma unroll
    for (int i = 0; i < COLUMNS; i++) {
        const float* rows = tiles[i / 4].at[i / 2 % 2] + i % 2;
        parts[i] = rows[0] + rows[2];
    }
    int first = share_columns<ALL / 2>(parts, 16);
    first += share_columns<ALL / 4>(parts, 8);
    first += share_columns<ALL / 8>(parts, 4);
#pragma unroll
    for (int i = 0; i < ALL / 8; i++)
        if (first + i < COLUMNS) {
            float* sum = sums + (first + i) / 2 * 8 + tile_column(0, first + i);
            *sum = (is_first ? 0 : *sum) + parts[i] * factor;
        }
}

// partials (B, 3D): the warps' column sums of this head's dq, dk and dv (warps, 3, WIDE), added in fixed order.
template <int K>
__device__ inline void add_warps(float* partials, const float* sums) {
    __syncthreads();  // all warps' sums are there
    for (int i = threadIdx.x; i < 3 * K; i += blockDim.x) {
        float sum = 0;
        for (int w = 0; w < blockDim.x / WARP; w++) sum += sums[(w * 3 + i / K) * WIDE<K> + i % K];
        partials[((static_cast<size_t>(blockIdx.y) * 3 + i / K) * gridDim.x + blockIdx.x) * K + i % K] = sum;
    }
}
