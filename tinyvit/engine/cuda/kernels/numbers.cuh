// Activations are stored as T, float or __nv_bfloat16 (16 bits: float's range with 8 bits of precision, so half the
// bytes). Sums and products in a kernel are float always: a number is widened when read and rounded when written.

#pragma once
#include <cuda_bf16.h>

__device__ inline float as_float(float value) { return value; }
__device__ inline float as_float(__nv_bfloat16 value) { return __bfloat162float(value); }

// Both round to the nearest number of type T, ties to even.
__device__ inline void store(float* place, float value) { *place = value; }
__device__ inline void store(__nv_bfloat16* place, float value) { *place = __float2bfloat16(value); }

// The value that whoever reads it back will see once it has been stored as T.
template <typename T>
__device__ inline float rounded(float value) {
    T stored;
    store(&stored, value);
    return as_float(stored);
}

// COUNT neighbours in memory, moved by one instruction: up to 16 bytes. The place must be a multiple of their size.
template <typename T, int COUNT>
struct alignas(sizeof(T) * COUNT) Vector {
    T numbers[COUNT];
};

// How many of COUNT numbers one instruction moves: eight floats, for example, take two.
template <typename T, int COUNT>
constexpr int PART = COUNT * sizeof(T) > 16 ? 16 / sizeof(T) : COUNT;

// COUNT numbers on their way from memory, as they are stored there; [k] is number k, widened. A thread goes on after
// `fetch`, and waits where it uses a number: if it fetches all it needs before it widens any, it waits once.
template <typename T, int COUNT>
struct alignas(sizeof(T) * COUNT) Fetched {
    T numbers[COUNT];
    __device__ float operator[](int k) const { return as_float(numbers[k]); }
};

template <>
struct Fetched<__nv_bfloat16, 1> {
    __nv_bfloat16 number;
    __device__ float operator[](int) const { return as_float(number); }
};

// In pairs, so that the compiler does not take the registers apart: a bfloat16 is the upper half of a float.
template <int COUNT>
struct alignas(2 * COUNT) Fetched<__nv_bfloat16, COUNT> {
    unsigned pairs[COUNT / 2];
    __device__ float operator[](int k) const {
        return __uint_as_float(k % 2 ? pairs[k / 2] & 0xffff0000 : pairs[k / 2] << 16);
    }
};

template <int COUNT, typename T>
__device__ inline Fetched<T, COUNT> fetch(const T* place) {
    return *reinterpret_cast<const Fetched<T, COUNT>*>(place);
}

// use(n, numbers) for rows n = first, first + step, ... below `end`, in order, with VEC neighbours of each. AT_ONCE
// rows are fetched before the first of them is used.
template <int AT_ONCE, int VEC, typename T, typename Use>
__device__ inline void for_each_row(const T* column, size_t distance, int first, int end, int step, Use use) {
#pragma unroll 1
    for (int start = first; start < end; start += AT_ONCE * step) {
        Fetched<T, VEC> rows[AT_ONCE] = {};
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            if (start + i * step < end) rows[i] = fetch<VEC>(column + (start + i * step) * distance);
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++)
            if (start + i * step < end) use(start + i * step, rows[i]);
    }
}

template <int COUNT, typename T>
__device__ inline void load_vector(const T* place, float* values) {
#pragma unroll
    for (int i = 0; i < COUNT; i += PART<T, COUNT>) {
        const auto part = fetch<PART<T, COUNT>>(place + i);
#pragma unroll
        for (int k = 0; k < PART<T, COUNT>; k++) values[i + k] = part[k];
    }
}

template <int COUNT, typename T>
__device__ inline void store_vector(T* place, const float* values) {
#pragma unroll
    for (int i = 0; i < COUNT; i += PART<T, COUNT>) {
        Vector<T, PART<T, COUNT>> vector;
#pragma unroll
        for (int k = 0; k < PART<T, COUNT>; k++) store(&vector.numbers[k], values[i + k]);
        *reinterpret_cast<Vector<T, PART<T, COUNT>>*>(place + i) = vector;
    }
}

// Two numbers, rounded to bfloat16 by one instruction, in one register: the first in its lower half.
__device__ inline unsigned pack(float first, float second) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(first, second);
    return *reinterpret_cast<const unsigned*>(&pair);
}

// The same for bfloat16, rounded in pairs.
template <int COUNT>
__device__ inline void store_vector(__nv_bfloat16* place, const float* values) {
    static_assert(COUNT <= 8, "one instruction moves 16 bytes");
    if constexpr (COUNT == 1) {
        store(place, values[0]);
    } else if constexpr (COUNT == 4) {  // as one number: the compiler does not always join two stores
        *reinterpret_cast<unsigned long long*>(place) =
            pack(values[0], values[1]) | static_cast<unsigned long long>(pack(values[2], values[3])) << 32;
    } else {
        Vector<unsigned, COUNT / 2> pairs;
#pragma unroll
        for (int k = 0; k < COUNT / 2; k++) pairs.numbers[k] = pack(values[2 * k], values[2 * k + 1]);
        *reinterpret_cast<Vector<unsigned, COUNT / 2>*>(place) = pairs;
    }
}
