// The words that CUDA adds to C++, and its vectors of numbers. Everything here is known to a kernel without #include.
#pragma once

#define TINYVIT_CUDA_ON_CPU 1  // a kernel can ask whether the emulator compiles it, to replace inline PTX

#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __restrict__
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __grid_constant__
#define __CUDACC__ 1

using size_t = decltype(sizeof(0));
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = __UINT64_TYPE__;
using int8_t = signed char;
using int16_t = short;
using int32_t = int;
using int64_t = __INT64_TYPE__;
using uintptr_t = __UINTPTR_TYPE__;

#define TINYVIT_VECTORS(T, name, bytes1, bytes2, bytes3, bytes4) \
    struct __align__(bytes1) name##1 { T x; }; \
    struct __align__(bytes2) name##2 { T x, y; }; \
    struct __align__(bytes3) name##3 { T x, y, z; }; \
    struct __align__(bytes4) name##4 { T x, y, z, w; }; \
    inline name##1 make_##name##1(T x) { return {x}; } \
    inline name##2 make_##name##2(T x, T y) { return {x, y}; } \
    inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
    inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }

TINYVIT_VECTORS(signed char, char, 1, 2, 1, 4)
TINYVIT_VECTORS(unsigned char, uchar, 1, 2, 1, 4)
TINYVIT_VECTORS(short, short, 2, 4, 2, 8)
TINYVIT_VECTORS(unsigned short, ushort, 2, 4, 2, 8)
TINYVIT_VECTORS(int, int, 4, 8, 4, 16)
TINYVIT_VECTORS(unsigned int, uint, 4, 8, 4, 16)
TINYVIT_VECTORS(long long, longlong, 8, 16, 8, 16)
TINYVIT_VECTORS(unsigned long long, ulonglong, 8, 16, 8, 16)
TINYVIT_VECTORS(float, float, 4, 8, 4, 16)
TINYVIT_VECTORS(double, double, 8, 16, 8, 16)
#undef TINYVIT_VECTORS

struct dim3 {
    unsigned int x, y, z;
    constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
};

// They are constant for the thread that reads them; the scheduler, compiled on its own, changes them between threads.
#ifdef TINYVIT_SCHEDULER
#define TINYVIT_CONST
#else
#define TINYVIT_CONST const
#endif
#pragma GCC visibility push(hidden)
extern "C" {
extern TINYVIT_CONST uint3 threadIdx, blockIdx;
extern TINYVIT_CONST dim3 blockDim, gridDim;
}
#pragma GCC visibility pop
constexpr int warpSize = 32;
