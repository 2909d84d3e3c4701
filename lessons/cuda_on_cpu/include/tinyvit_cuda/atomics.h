// Atomic operations: each returns what was there before.
#pragma once

#include "scheduler.h"

namespace tinyvit {
enum {
    ADD, EXCHANGE, COMPARE, AND, OR, XOR, MIN, MAX, INC, DEC,
    MIN_BELOW_ZERO, MAX_BELOW_ZERO,  // of numbers that can be below zero
    ADD_FLOAT, ADD_DOUBLE
};
template <typename T>
inline T atomic(int operation, T* place, T value, T compare = T()) {
    if constexpr (sizeof(T) == 4) {
        unsigned bits, other, old;
        __builtin_memcpy(&bits, &value, 4);
        __builtin_memcpy(&other, &compare, 4);
        old = atomic_32(operation, place, bits, other);
        __builtin_memcpy(&value, &old, 4);
    } else {
        unsigned long long bits, other, old;
        __builtin_memcpy(&bits, &value, 8);
        __builtin_memcpy(&other, &compare, 8);
        old = atomic_64(operation, place, bits, other);
        __builtin_memcpy(&value, &old, 8);
    }
    return value;
}
}  // namespace tinyvit

inline int atomicAdd(int* place, int value) { return tinyvit::atomic(tinyvit::ADD, place, value); }
inline unsigned atomicAdd(unsigned* place, unsigned value) { return tinyvit::atomic(tinyvit::ADD, place, value); }
inline unsigned long long atomicAdd(unsigned long long* place, unsigned long long value) {
    return tinyvit::atomic(tinyvit::ADD, place, value);
}
inline float atomicAdd(float* place, float value) { return tinyvit::atomic(tinyvit::ADD_FLOAT, place, value); }
inline double atomicAdd(double* place, double value) { return tinyvit::atomic(tinyvit::ADD_DOUBLE, place, value); }
inline int atomicSub(int* place, int value) { return tinyvit::atomic(tinyvit::ADD, place, -value); }
inline unsigned atomicSub(unsigned* place, unsigned value) { return tinyvit::atomic(tinyvit::ADD, place, 0 - value); }
inline int atomicMin(int* place, int value) { return tinyvit::atomic(tinyvit::MIN_BELOW_ZERO, place, value); }
inline unsigned atomicMin(unsigned* place, unsigned value) { return tinyvit::atomic(tinyvit::MIN, place, value); }
inline int atomicMax(int* place, int value) { return tinyvit::atomic(tinyvit::MAX_BELOW_ZERO, place, value); }
inline unsigned atomicMax(unsigned* place, unsigned value) { return tinyvit::atomic(tinyvit::MAX, place, value); }
inline unsigned atomicInc(unsigned* place, unsigned last) { return tinyvit::atomic(tinyvit::INC, place, last); }
inline unsigned atomicDec(unsigned* place, unsigned last) { return tinyvit::atomic(tinyvit::DEC, place, last); }
template <typename T> inline T atomicExch(T* place, T value) {
    return tinyvit::atomic(tinyvit::EXCHANGE, place, value);
}
template <typename T> inline T atomicAnd(T* place, T value) { return tinyvit::atomic(tinyvit::AND, place, value); }
template <typename T> inline T atomicOr(T* place, T value) { return tinyvit::atomic(tinyvit::OR, place, value); }
template <typename T> inline T atomicXor(T* place, T value) { return tinyvit::atomic(tinyvit::XOR, place, value); }
template <typename T> inline T atomicCAS(T* place, T compare, T value) {
    return tinyvit::atomic(tinyvit::COMPARE, place, value, compare);
}
