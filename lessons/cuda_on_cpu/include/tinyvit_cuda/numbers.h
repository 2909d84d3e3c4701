// CUDA's mathematical functions: the C library's, under CUDA's names. The fast ones (__expf and its like) are as
// exact here as the others, which they are not on a GPU.
#pragma once

#include "scheduler.h"

// The compiler knows the C names itself, so these macros only declare them, and add the forms for float.
#define TINYVIT_ONE(name) \
    extern "C" double name(double) noexcept; \
    extern "C" float name##f(float) noexcept; \
    inline float name(float x) { return name##f(x); }
#define TINYVIT_TWO(name) \
    extern "C" double name(double, double) noexcept; \
    extern "C" float name##f(float, float) noexcept; \
    inline float name(float x, float y) { return name##f(x, y); }

TINYVIT_ONE(sqrt) TINYVIT_ONE(exp) TINYVIT_ONE(exp2) TINYVIT_ONE(expm1) TINYVIT_ONE(log) TINYVIT_ONE(log2)
TINYVIT_ONE(log10) TINYVIT_ONE(log1p) TINYVIT_ONE(sin) TINYVIT_ONE(cos) TINYVIT_ONE(tan) TINYVIT_ONE(asin)
TINYVIT_ONE(acos) TINYVIT_ONE(atan) TINYVIT_ONE(sinh) TINYVIT_ONE(cosh) TINYVIT_ONE(tanh) TINYVIT_ONE(erf)
TINYVIT_ONE(erfc) TINYVIT_ONE(floor) TINYVIT_ONE(ceil) TINYVIT_ONE(rint) TINYVIT_ONE(round) TINYVIT_ONE(trunc)
TINYVIT_ONE(fabs) TINYVIT_ONE(cbrt)
TINYVIT_TWO(pow) TINYVIT_TWO(fmod) TINYVIT_TWO(fmin) TINYVIT_TWO(fmax)
TINYVIT_TWO(copysign) TINYVIT_TWO(atan2) TINYVIT_TWO(hypot)
#undef TINYVIT_ONE
#undef TINYVIT_TWO

inline float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
inline double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
inline float rsqrtf(float x) { return 1 / __builtin_sqrtf(x); }
inline double rsqrt(double x) { return 1 / __builtin_sqrt(x); }
inline float rsqrt(float x) { return rsqrtf(x); }
inline float normcdff(float x) { return 0.5f * erfcf(-x * 0.70710678f); }
inline float fdividef(float x, float y) { return x / y; }
inline float exp10f(float x) { return __builtin_powf(10, x); }
inline float __expf(float x) { return expf(x); }
inline float __exp10f(float x) { return exp10f(x); }
inline float __logf(float x) { return logf(x); }
inline float __log2f(float x) { return log2f(x); }
inline float __log10f(float x) { return log10f(x); }
inline float __sinf(float x) { return sinf(x); }
inline float __cosf(float x) { return cosf(x); }
inline float __powf(float x, float y) { return powf(x, y); }
inline float __fdividef(float x, float y) { return x / y; }
inline float __frcp_rn(float x) { return 1 / x; }
inline float __fsqrt_rn(float x) { return sqrtf(x); }
inline float __frsqrt_rn(float x) { return rsqrtf(x); }
inline float __fadd_rn(float x, float y) { return x + y; }
inline float __fsub_rn(float x, float y) { return x - y; }
inline float __fmul_rn(float x, float y) { return x * y; }
inline float __fdiv_rn(float x, float y) { return x / y; }
inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
inline double __dadd_rn(double x, double y) { return x + y; }
inline double __dmul_rn(double x, double y) { return x * y; }
inline float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1) : 0; }
inline void sincosf(float x, float* sine, float* cosine) { *sine = sinf(x), *cosine = cosf(x); }

inline bool isnan(float x) { return x != x; }
inline bool isnan(double x) { return x != x; }
inline bool isinf(float x) { return __builtin_isinf(x); }
inline bool isfinite(float x) { return __builtin_isfinite(x); }

inline int abs(int x) { return x < 0 ? -x : x; }
inline float abs(float x) { return fabsf(x); }
#define TINYVIT_LEAST_AND_MOST(T) \
    inline T min(T x, T y) { return y < x ? y : x; } \
    inline T max(T x, T y) { return x < y ? y : x; }
TINYVIT_LEAST_AND_MOST(int)
TINYVIT_LEAST_AND_MOST(unsigned int)
TINYVIT_LEAST_AND_MOST(long)
TINYVIT_LEAST_AND_MOST(unsigned long)
TINYVIT_LEAST_AND_MOST(long long)
TINYVIT_LEAST_AND_MOST(unsigned long long)
#undef TINYVIT_LEAST_AND_MOST
inline float min(float x, float y) { return fminf(x, y); }
inline float max(float x, float y) { return fmaxf(x, y); }
inline double min(double x, double y) { return fmin(x, y); }
inline double max(double x, double y) { return fmax(x, y); }
inline unsigned min(int x, unsigned y) { return min(static_cast<unsigned>(x), y); }
inline unsigned min(unsigned x, int y) { return min(x, static_cast<unsigned>(y)); }
inline unsigned max(int x, unsigned y) { return max(static_cast<unsigned>(x), y); }
inline unsigned max(unsigned x, int y) { return max(x, static_cast<unsigned>(y)); }

#define TINYVIT_SAME_BITS(name, From, To) \
    inline To name(From value) { \
        To result; \
        __builtin_memcpy(&result, &value, sizeof(To)); \
        return result; \
    }
TINYVIT_SAME_BITS(__float_as_int, float, int)
TINYVIT_SAME_BITS(__float_as_uint, float, unsigned)
TINYVIT_SAME_BITS(__int_as_float, int, float)
TINYVIT_SAME_BITS(__uint_as_float, unsigned, float)
TINYVIT_SAME_BITS(__double_as_longlong, double, long long)
TINYVIT_SAME_BITS(__longlong_as_double, long long, double)
#undef TINYVIT_SAME_BITS

inline float __int2float_rn(int x) { return static_cast<float>(x); }
inline float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
inline int tinyvit_to_int(float x) {  // what int cannot hold becomes the end it is nearest to, and NaN 0
    if (x >= 0x1p31f) return 0x7fffffff;
    if (x < -0x1p31f) return -0x7fffffff - 1;
    return x == x ? static_cast<int>(x) : 0;
}
inline int __float2int_rn(float x) { return tinyvit_to_int(rintf(x)); }
inline int __float2int_rd(float x) { return tinyvit_to_int(floorf(x)); }
inline int __float2int_rz(float x) { return tinyvit_to_int(x); }
inline unsigned __umulhi(unsigned x, unsigned y) { return static_cast<unsigned long long>(x) * y >> 32; }
inline int __mulhi(int x, int y) { return static_cast<int>(static_cast<long long>(x) * y >> 32); }
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
    return static_cast<unsigned long long>(static_cast<unsigned __int128>(x) * y >> 64);
}
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline unsigned __brev(unsigned x) {
    unsigned result = 0;
    for (int bit = 0; bit < 32; bit++) result |= (x >> bit & 1) << (31 - bit);
    return result;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    return ((static_cast<unsigned long long>(high) << 32 | low) << (shift & 31)) >> 32;
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return static_cast<unsigned>((static_cast<unsigned long long>(high) << 32 | low) >> (shift & 31));
}
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
    const unsigned long long bytes = static_cast<unsigned long long>(y) << 32 | x;
    unsigned result = 0;
    for (int i = 0; i < 4; i++) result |= static_cast<unsigned>(bytes >> 8 * (selector >> 4 * i & 7) & 255) << 8 * i;
    return result;
}

// Loads and stores with a hint for the caches, which are not modelled.
template <typename T> inline T __ldg(const T* place) { return *place; }
template <typename T> inline T __ldcs(const T* place) { return *place; }
template <typename T> inline T __ldcg(const T* place) { return *place; }
template <typename T> inline T __ldca(const T* place) { return *place; }
template <typename T> inline void __stcs(T* place, T value) { *place = value; }
template <typename T> inline void __stcg(T* place, T value) { *place = value; }

// What NVRTC also knows without a header.
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define assert(condition) ((condition) ? void() : tinyvit::stop("assert(" #condition ") does not hold"))
