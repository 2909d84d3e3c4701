// Barriers, warp shuffles and votes.
#pragma once

#include "scheduler.h"

inline void __syncthreads(TINYVIT_HERE) { tinyvit::block_barrier("__syncthreads", 0, {file, line}); }
inline int __syncthreads_count(int value, TINYVIT_HERE) {
    return tinyvit::block_barrier("__syncthreads_count", value != 0, {file, line}) & 0xffff;
}
inline int __syncthreads_or(int value, TINYVIT_HERE) {
    return (tinyvit::block_barrier("__syncthreads_or", value != 0, {file, line}) & 0xffff) != 0;
}
inline int __syncthreads_and(int value, TINYVIT_HERE) {
    return tinyvit::block_barrier("__syncthreads_and", value != 0, {file, line}) >> 16;
}
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __syncwarp(unsigned mask = 0xffffffff, TINYVIT_HERE) {
    tinyvit::meet(tinyvit::SYNC, mask, nullptr, {file, line});
}

namespace tinyvit {
template <typename T>
inline T shuffle(unsigned mask, T value, int source, bool inside, Place place) {
    static_assert(sizeof(T) <= 8, "a shuffle passes on 8 bytes at most");
    Shuffle mine{0, inside ? source : lane(), !inside};
    __builtin_memcpy(&mine.value, &value, sizeof(T));
    meet(SHUFFLE, mask, &mine, place);
    __builtin_memcpy(&value, &mine.value, sizeof(T));
    return value;
}
inline unsigned vote(const Meeting& meeting, unsigned mask, unsigned long long value, Place place) {
    Vote mine{value, 0};
    meet(meeting, mask, &mine, place);
    return mine.result;
}
}  // namespace tinyvit

// Of a distance a GPU takes the lowest five bits.
template <typename T>
inline T __shfl_sync(unsigned mask, T value, int source, int width = 32, TINYVIT_HERE) {
    const int first = tinyvit::lane() & ~(width - 1);
    return tinyvit::shuffle(mask, value, first + (source & (width - 1)), true, {file, line});
}
template <typename T>
inline T __shfl_up_sync(unsigned mask, T value, unsigned distance, int width = 32, TINYVIT_HERE) {
    const int source = tinyvit::lane() - static_cast<int>(distance & 31), first = tinyvit::lane() & ~(width - 1);
    return tinyvit::shuffle(mask, value, source, source >= first, {file, line});
}
template <typename T>
inline T __shfl_down_sync(unsigned mask, T value, unsigned distance, int width = 32, TINYVIT_HERE) {
    const int source = tinyvit::lane() + static_cast<int>(distance & 31), last = tinyvit::lane() | (width - 1);
    return tinyvit::shuffle(mask, value, source, source <= last, {file, line});
}
template <typename T>
inline T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32, TINYVIT_HERE) {
    const int source = tinyvit::lane() ^ (bits & 31), last = tinyvit::lane() | (width - 1);
    return tinyvit::shuffle(mask, value, source, source <= last, {file, line});
}

inline unsigned __ballot_sync(unsigned mask, int value, TINYVIT_HERE) {
    return tinyvit::vote(tinyvit::BALLOT, mask, value != 0, {file, line});
}
inline int __any_sync(unsigned mask, int value, TINYVIT_HERE) {
    return tinyvit::vote(tinyvit::BALLOT, mask, value != 0, {file, line}) != 0;
}
inline int __all_sync(unsigned mask, int value, TINYVIT_HERE) {
    return tinyvit::vote(tinyvit::BALLOT, mask, value == 0, {file, line}) == 0;
}
template <typename T>
inline unsigned __match_any_sync(unsigned mask, T value, TINYVIT_HERE) {
    unsigned long long bits = 0;
    __builtin_memcpy(&bits, &value, sizeof(T));
    return tinyvit::vote(tinyvit::MATCH, mask, bits, {file, line});
}

inline unsigned __reduce_add_sync(unsigned mask, unsigned value, TINYVIT_HERE) {
    return tinyvit::vote(tinyvit::ADD_SIGNED, mask, value, {file, line});
}
inline int __reduce_add_sync(unsigned mask, int value, TINYVIT_HERE) {
    return static_cast<int>(tinyvit::vote(tinyvit::ADD_SIGNED, mask, static_cast<unsigned>(value), {file, line}));
}
inline unsigned __reduce_min_sync(unsigned mask, unsigned value, TINYVIT_HERE) {
    return tinyvit::vote(tinyvit::MIN_UNSIGNED, mask, value, {file, line});
}
inline int __reduce_min_sync(unsigned mask, int value, TINYVIT_HERE) {
    return static_cast<int>(tinyvit::vote(tinyvit::MIN_SIGNED, mask, static_cast<unsigned>(value), {file, line}));
}
inline unsigned __reduce_max_sync(unsigned mask, unsigned value, TINYVIT_HERE) {
    return tinyvit::vote(tinyvit::MAX_UNSIGNED, mask, value, {file, line});
}
inline int __reduce_max_sync(unsigned mask, int value, TINYVIT_HERE) {
    return static_cast<int>(tinyvit::vote(tinyvit::MAX_SIGNED, mask, static_cast<unsigned>(value), {file, line}));
}
inline unsigned __reduce_and_sync(unsigned mask, unsigned value, TINYVIT_HERE) {
    return tinyvit::vote(tinyvit::AND_BITS, mask, value, {file, line});
}
inline unsigned __reduce_or_sync(unsigned mask, unsigned value, TINYVIT_HERE) {
    return tinyvit::vote(tinyvit::OR_BITS, mask, value, {file, line});
}
inline unsigned __reduce_xor_sync(unsigned mask, unsigned value, TINYVIT_HERE) {
    return tinyvit::vote(tinyvit::XOR_BITS, mask, value, {file, line});
}

// d = a b + c for a tile of 16 x 16 numbers, one of 16 x 8, and sums of 16 x 8, on all 32 lanes of a warp: what the
// PTX instruction mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 does, with its layout of a, b, c and d. Each
// product is exact, and they are added one after the other in float; a tensor core adds in another order.
inline void tinyvit_emulated_mma_m16n8k16_bf16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2],
                                               const float (&c)[4], TINYVIT_HERE) {
    tinyvit::Product16x8x16 mine{d, a, b, c};
    tinyvit::meet(tinyvit::MMA_16X8X16_BF16, 0xffffffff, &mine, {file, line});
}
