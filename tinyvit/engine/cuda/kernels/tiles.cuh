// Products of 16 x 16 tiles, each carried out by one warp: the bricks of the products inside a kernel.
//
//     C (16 x 16) += A (16 x 16) M (16 x 16)        or  A M^T
//
// No thread has a whole row of a tile. With lane = 4 g + t (g = 0..7, t = 0..3), a thread has 8 of the 256 numbers of
// C: rows g and g + 8, columns 2 t and 2 t + 1, and the same columns plus 8. So the four neighbours that share g, a
// "quad", have rows g and g + 8 between them, and a sum along a row takes two shuffles. This is how the tensor cores
// hand out their results (PTX manual, mma.m16n8k16), and floats are held in the same way, so that one kernel serves
// both.
//
// For bfloat16, A lies in registers and the tensor cores multiply: one instruction a half tile (16 x 8), float sums.
// For float, which they cannot multiply exactly, A lies in shared memory, and each thread sums up its 8 numbers one
// multiplication after another. M lies in shared memory in both cases. `stride` is the distance between two
// rows of a matrix there, in numbers, with padding that puts rows g = 0..7 into different memory banks: an odd
// multiple of 16 bytes, which also is the alignment that ldmatrix demands.

#pragma once
#include <cuda_bf16.h>

#include "numbers.cuh"
#include "warp.cuh"

constexpr int TILE = 16;

// 16 bytes behind every row.
template <typename T>
constexpr int PADDING = 16 / sizeof(T);

// C. at[0] has the left 8 columns, at[1] the right ones.
struct Sums {
    float at[2][4] = {};
};

// Where number `e` of half `half` stands in the tile.
__device__ inline int tile_row(int e) { return threadIdx.x % WARP / 4 + 8 * (e / 2); }
__device__ inline int tile_column(int half, int e) { return 8 * half + threadIdx.x % 4 * 2 + e % 2; }

// Sums and maxima along a row of a tile: over the four threads of a quad.
__device__ inline float quad_sum(float part) {
    part += __shfl_xor_sync(ALL_LANES, part, 1);
    return part + __shfl_xor_sync(ALL_LANES, part, 2);
}

__device__ inline float quad_max(float part) {
    part = fmaxf(part, __shfl_xor_sync(ALL_LANES, part, 1));
    return fmaxf(part, __shfl_xor_sync(ALL_LANES, part, 2));
}

// Write C to a tile of a matrix in shared memory.
template <typename T>
__device__ inline void store_tile(T* matrix, int stride, const Sums& c) {
#pragma unroll
    for (int half = 0; half < 2; half++)
#pragma unroll
        for (int e = 0; e < 4; e += 2)
            store_vector<2>(matrix + tile_row(e) * stride + tile_column(half, e), c.at[half] + e);
}

// A, as the thread holds it. The scratch is one tile of shared memory for each warp, of SCRATCH<T> numbers.
template <typename T>
struct Left;

// ---- float ------------------------------------------------------------------------------------------------------

template <typename T>
constexpr bool STAYS_SHARED = false;  // whether A stays in shared memory
template <>
constexpr bool STAYS_SHARED<float> = true;

template <typename T>
constexpr int SCRATCH = 0;
template <>
constexpr int SCRATCH<float> = TILE * (TILE + PADDING<float>);

template <>
struct Left<float> {
    const float* start;
    int down, across;  // the distance between two rows, and between two columns
};

__device__ inline Left<float> load_left(const float* matrix, int stride) { return {matrix, stride, 1}; }
__device__ inline Left<float> load_left_transposed(const float* matrix, int stride) { return {matrix, 1, stride}; }

// Numbers that are held as C is become the A of the next product.
__device__ inline Left<float> left_from_sums(const Sums& c, float* scratch, int stride = TILE + PADDING<float>) {
    __syncwarp();  // all have read what lay here before
    store_tile(scratch, stride, c);
    __syncwarp();
    return load_left(scratch, stride);
}

// C += A M, where a step down a column of M is `down` numbers, and a step along a row is `across`.
__device__ inline void add_product(Sums& c, Left<float> a, const float* m, int down, int across) {
    const float* row = a.start + tile_row(0) * a.down;
    m += tile_column(0, 0) * across;
#pragma unroll 2
    for (int k = 0; k < TILE; k++) {
        const float upper = row[k * a.across], lower = row[8 * a.down + k * a.across];
#pragma unroll
        for (int half = 0; half < 2; half++) {
#pragma unroll
            for (int e = 0; e < 2; e++) {
                const float factor = m[k * down + (8 * half + e) * across];
                c.at[half][e] = fmaf(upper, factor, c.at[half][e]);
                c.at[half][2 + e] = fmaf(lower, factor, c.at[half][2 + e]);
            }
        }
    }
}

__device__ inline void add_product(Sums& c, Left<float> a, const float* m, int stride) {
    add_product(c, a, m, stride, 1);
}

__device__ inline void add_product_transposed(Sums& c, Left<float> a, const float* m, int stride) {
    add_product(c, a, m, 1, stride);
}

// ---- bfloat16 ---------------------------------------------------------------------------------------------------

using bf16 = __nv_bfloat16;

// Two neighbouring numbers of a row to a register: [0] row g, columns 2 t and 2 t + 1; [1] row g + 8; [2] and [3] the
// same two rows, columns plus 8.
template <>
struct Left<bf16> {
    unsigned at[4];
};

__device__ inline unsigned bits(bf16 low, bf16 high) {
    return __bfloat16_as_ushort(low) | static_cast<unsigned>(__bfloat16_as_ushort(high)) << 16;
}

// C and A are held alike, but for the packing: no thread needs a number of another. (FlashAttention's trick.)
__device__ inline Left<bf16> left_from_sums(const Sums& c, bf16*, int = 0) {
    return {{pack(c.at[0][0], c.at[0][1]), pack(c.at[0][2], c.at[0][3]), pack(c.at[1][0], c.at[1][1]),
             pack(c.at[1][2], c.at[1][3])}};
}

// c (16 x 8) += a (16 x 16) b (16 x 8): one instruction of the tensor cores. Column g of b is in b0 at rows 2 t and 2
// t + 1, and in b1 at these rows plus 8. Cards before Ampere lack the instruction: there bfloat16 must not be chosen.
__device__ inline void tile_product(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
#if defined(TINYVIT_CUDA_ON_CPU)
    tinyvit_emulated_mma_m16n8k16_bf16(c, a, {b0, b1}, c);
#elif __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
    __trap();
#endif
}

// Four 8 x 8 blocks of shared memory, one after another, as the tensor cores want them: a thread gets the numbers 2 t
// and 2 t + 1 of row g of each, or of column g if TRANSPOSED. Block b begins at row (b / 2) * 8, column (b % 2) * 8
// of the tile, or the other way round if DOWN. On a GPU each lane names one row (of block lane / 8), and one
// instruction fetches all four blocks; what it does is written out below it.
template <bool TRANSPOSED, bool DOWN>
__device__ inline void load_blocks(unsigned* registers, const bf16* matrix, int stride) {
    const int lane = threadIdx.x % WARP;
#ifdef __CUDA_ARCH__
    const int block = lane / 8;
    const int across = (DOWN ? block / 2 : block % 2) * 8, down = (DOWN ? block % 2 : block / 2) * 8;
    const bf16* row = matrix + (down + lane % 8) * stride + across;
    const unsigned place = static_cast<unsigned>(__cvta_generic_to_shared(row));
    if (TRANSPOSED)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(registers[0]), "=r"(registers[1]), "=r"(registers[2]), "=r"(registers[3])
                     : "r"(place)
                     : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(registers[0]), "=r"(registers[1]), "=r"(registers[2]), "=r"(registers[3])
                     : "r"(place)
                     : "memory");
#else
    const int g = lane / 4, t = lane % 4;
    for (int block = 0; block < 4; block++) {
        const int across = (DOWN ? block / 2 : block % 2) * 8, down = (DOWN ? block % 2 : block / 2) * 8;
        const bf16* start = matrix + down * stride + across;
        registers[block] = TRANSPOSED ? bits(start[2 * t * stride + g], start[(2 * t + 1) * stride + g])
                                      : bits(start[g * stride + 2 * t], start[g * stride + 2 * t + 1]);
    }
#endif
}

__device__ inline Left<bf16> load_left(const bf16* matrix, int stride) {
    Left<bf16> a;
    load_blocks<false, true>(a.at, matrix, stride);
    return a;
}

__device__ inline Left<bf16> load_left_transposed(const bf16* matrix, int stride) {
    Left<bf16> a;
    load_blocks<true, false>(a.at, matrix, stride);
    return a;
}

__device__ inline void add_product(Sums& c, const Left<bf16>& a, const bf16* m, int stride) {
    unsigned b[4];
    load_blocks<true, true>(b, m, stride);
    tile_product(c.at[0], a.at, b[0], b[1]);
    tile_product(c.at[1], a.at, b[2], b[3]);
}

__device__ inline void add_product_transposed(Sums& c, const Left<bf16>& a, const bf16* m, int stride) {
    unsigned b[4];
    load_blocks<false, false>(b, m, stride);
    tile_product(c.at[0], a.at, b[0], b[1]);
    tile_product(c.at[1], a.at, b[2], b[3]);
}
