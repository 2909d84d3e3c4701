// The end of a step, on the flat buffers of all parameters: the gradient's norm, clipping, the update, and a copy of
// the parameters in bfloat16. Mirrors tinyvit/optim/clip.py, adam.py and sgd.py. The processor that started the step
// never waits: learning rate, clip factor and norm are in the device's memory.
//
// controls: 0 lr, 1 lr / (1 - b1^t), 2 1 / sqrt(1 - b2^t), 3 clip factor, 4 norm of the gradient.
// A thread does four neighbouring numbers, or what is left of them at the end of a buffer.

#include "numbers.cuh"
#include "warp.cuh"

enum Kind { ADAMW, ADAM, SGD };

// Of each buffer the next four numbers from `start` on, at once if they are there; 0 for those beyond the end.
struct Four {
    const float* from;
    float (&to)[4];
};

template <typename... Fours>
__device__ inline void load_fours(int start, int count, Fours... fours) {
    if (start + 4 <= count) {
        (load_vector<4>(fours.from + start, fours.to), ...);
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++) ((fours.to[i] = start + i < count ? fours.from[start + i] : 0), ...);
    }
}

template <typename T>
__device__ inline void store_four(T* to, int start, int count, const float (&from)[4]) {
    if (start + 4 <= count) {
        store_vector<4>(to + start, from);
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (start + i < count) store(to + start + i, from[i]);
    }
}

// The sums of squares of the numbers that each block comes by, going through all of them together in large steps.
// Bytes moved: 4 for each gradient.
__global__ void __launch_bounds__(256) squared_sums(const float* grads, float* partials, int count) {
    __shared__ float scratch[256 / WARP];
    float sum = 0;
    const int thread = blockIdx.x * blockDim.x + threadIdx.x, fours = count / 4;
    for_each_row<4, 4>(grads, 4, thread, fours, gridDim.x * blockDim.x, [&](int, const Fetched<float, 4>& g) {
#pragma unroll
        for (int i = 0; i < 4; i++) sum += g[i] * g[i];
    });
    if (thread < count % 4) sum += grads[4 * fours + thread] * grads[4 * fours + thread];
    sum = block_sum(sum, scratch);
    if (threadIdx.x == 0) partials[blockIdx.x] = sum;
}

// The norm, and the factor that gradients are to be multiplied by: clip.py, eq. 1. One block of 256 threads.
__global__ void __launch_bounds__(256) clip(const float* partials, float* controls, float largest, int count) {
    __shared__ float scratch[256 / WARP];
    float sum = 0;
    for (int i = threadIdx.x; i < count; i += blockDim.x) sum += partials[i];
    const float norm = sqrtf(block_sum(sum, scratch));
    if (threadIdx.x == 0) {
        const float ratio = largest / (norm + 1e-6f);
        controls[3] = isinf(largest) || ratio >= 1 ? 1 : ratio;  // not a number if the norm is not
        controls[4] = norm;
    }
}

// One update. The first `decayed` parameters are subject to weight decay; SGD has neither decay nor v, and b1 is its
// momentum. rest1 = 1 - b1 and rest2 = 1 - b2 come from float64: 1 - b2 in float32 would be off by 1e-5.
// Bytes moved for each parameter: 28 for Adam (w, g, m, v in; w, m, v out) and 20 for SGD.
template <Kind KIND>
__global__ void __launch_bounds__(256)
update(float* params, const float* grads, float* m_buffer, float* v_buffer, const float* controls, int count,
       int decayed, float b1, float rest1, float b2, float rest2, float eps, float weight_decay) {
    const int start = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (start >= count) return;
    const float lr = controls[0], rate = controls[1], root_correction = controls[2], factor = controls[3];

    float w[4], g[4], m[4], v[4];
    if constexpr (KIND == SGD)
        load_fours(start, count, Four{params, w}, Four{grads, g}, Four{m_buffer, m});
    else
        load_fours(start, count, Four{params, w}, Four{grads, g}, Four{m_buffer, m}, Four{v_buffer, v});
#pragma unroll
    for (int i = 0; i < 4; i++) {
        g[i] *= factor;
        if (KIND == SGD) {
            m[i] = b1 * m[i] + g[i];  // sgd.py, eq. 1
            w[i] -= lr * m[i];        //         eq. 2
        } else {
            const float decay = start + i < decayed ? weight_decay : 0;
            if (KIND == ADAMW) w[i] *= 1 - lr * decay;                   // adam.py, eq. 5
            if (KIND == ADAM) g[i] += decay * w[i];                      //          its L2 penalty
            m[i] = b1 * m[i] + rest1 * g[i];                             //          eq. 1
            v[i] = b2 * v[i] + rest2 * g[i] * g[i];                      //          eq. 2
            w[i] -= rate * m[i] / (sqrtf(v[i]) * root_correction + eps);  //         eq. 3, 4
        }
    }
    store_four(params, start, count, w);
    store_four(m_buffer, start, count, m);
    if (KIND != SGD) store_four(v_buffer, start, count, v);
}

// y = x in bfloat16. Bytes moved: 4 in and 2 out for each number.
__global__ void __launch_bounds__(256) to_bf16(const float* x, __nv_bfloat16* y, int count) {
    const int start = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (start >= count) return;
    float numbers[4];
    load_fours(start, count, Four{x, numbers});
    store_four(y, start, count, numbers);
}
