// bfloat16: the upper half of a float. Numbers are rounded to the nearest one, halves to even.
#pragma once

struct __align__(2) __nv_bfloat16 {
    unsigned short bits;

    __nv_bfloat16() = default;
    __nv_bfloat16(float value) {
        const unsigned all = __float_as_uint(value);
        bits = value != value ? 0x7fff : (all + 0x7fff + (all >> 16 & 1)) >> 16;
    }
    __nv_bfloat16(double value) : __nv_bfloat16(static_cast<float>(value)) {}
    __nv_bfloat16(int value) : __nv_bfloat16(static_cast<float>(value)) {}
    __nv_bfloat16(unsigned value) : __nv_bfloat16(static_cast<float>(value)) {}
    operator float() const { return __uint_as_float(static_cast<unsigned>(bits) << 16); }
};
struct __align__(4) __nv_bfloat162 {
    __nv_bfloat16 x, y;
    __nv_bfloat162() = default;
    __nv_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) : x(x), y(y) {}
};
struct __nv_bfloat16_raw { unsigned short x; };
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

inline __nv_bfloat16 __float2bfloat16(float value) { return value; }
inline __nv_bfloat16 __float2bfloat16_rn(float value) { return value; }
inline float __bfloat162float(__nv_bfloat16 value) { return value; }
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 value) { return value.bits; }
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) {
    __nv_bfloat16 value;
    value.bits = bits;
    return value;
}
inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return {x, y}; }
inline __nv_bfloat162 __float22bfloat162_rn(float2 value) { return {value.x, value.y}; }
inline __nv_bfloat162 __float2bfloat162_rn(float value) { return {value, value}; }
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 value) { return {value, value}; }
inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
inline float2 __bfloat1622float2(__nv_bfloat162 value) { return {value.x, value.y}; }
inline float __low2float(__nv_bfloat162 value) { return value.x; }
inline float __high2float(__nv_bfloat162 value) { return value.y; }
inline __nv_bfloat16 __low2bfloat16(__nv_bfloat162 value) { return value.x; }
inline __nv_bfloat16 __high2bfloat16(__nv_bfloat162 value) { return value.y; }

#define TINYVIT_BF16(name, sign) \
    inline __nv_bfloat16 operator sign(__nv_bfloat16 a, __nv_bfloat16 b) { return float(a) sign float(b); } \
    inline __nv_bfloat16& operator sign##=(__nv_bfloat16& a, __nv_bfloat16 b) { return a = a sign b; } \
    inline __nv_bfloat16 name(__nv_bfloat16 a, __nv_bfloat16 b) { return a sign b; } \
    inline __nv_bfloat162 operator sign(__nv_bfloat162 a, __nv_bfloat162 b) { return {a.x sign b.x, a.y sign b.y}; } \
    inline __nv_bfloat162 name##2(__nv_bfloat162 a, __nv_bfloat162 b) { return a sign b; }
TINYVIT_BF16(__hadd, +)
TINYVIT_BF16(__hsub, -)
TINYVIT_BF16(__hmul, *)
#undef TINYVIT_BF16
inline __nv_bfloat16 __hdiv(__nv_bfloat16 a, __nv_bfloat16 b) { return float(a) / float(b); }
inline __nv_bfloat16 operator/(__nv_bfloat16 a, __nv_bfloat16 b) { return __hdiv(a, b); }
inline __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) { return fmaf(a, b, c); }
inline __nv_bfloat162 __hfma2(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) {
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
inline __nv_bfloat16 __hmax(__nv_bfloat16 a, __nv_bfloat16 b) { return fmaxf(a, b); }
inline __nv_bfloat16 __hmin(__nv_bfloat16 a, __nv_bfloat16 b) { return fminf(a, b); }
