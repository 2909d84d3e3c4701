// The bias and the tanh of the pre_logits layer, forward and backward: mirrors tinyvit/ops/tanh.py (eq. 1 and 2), with
// the bias of tinyvit/ops/linear.py.

#include "numbers.cuh"

// y = tanh(h + bias), for h (rows, F) and bias (F,). A thread does V columns of one row.
// Bytes moved: h in, y out.
template <typename T, int V>
__global__ void __launch_bounds__(256) bias_tanh(const T* h, const float* bias, T* y, int rows, int F) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = thread / (F / V), column = thread % (F / V) * V;
    if (row >= rows) return;
    const size_t place = static_cast<size_t>(row) * F + column;
    float numbers[V], added[V];
    load_vector<V>(h + place, numbers);
    load_vector<V>(bias + column, added);
#pragma unroll
    for (int i = 0; i < V; i++) numbers[i] = tanhf(numbers[i] + added[i]);
    store_vector<V>(y + place, numbers);
}

// dh = dy (1 - y^2), and sums of its columns for the gradient of the bias: block (., p) does `chunk` rows, and a
// thread sums its V columns over these in order, into row p of partials (P, F).
//
// y is computed anew from h. The y of the forward pass would cost as many bytes, but was rounded: where it is near 1,
// 1 - y^2 is small, and quite another number for the bfloat16 next to y: 0.062 for 0.969, 0.054 for 0.973.
// The buffers must be different ones. Bytes moved: dy and h in, dh out, and 4 for each number of the partial sums.
template <typename T, int V>
__global__ void __launch_bounds__(256)
bias_tanh_backward(const T* __restrict__ dy, const T* __restrict__ h, const float* __restrict__ bias,
                   T* __restrict__ dh, float* partials, int rows, int F, int chunk) {
    const int column = (blockIdx.x * blockDim.x + threadIdx.x) * V;
    if (column >= F) return;
    const int first = blockIdx.y * chunk;

    float sums[V] = {}, added[V];
    load_vector<V>(bias + column, added);
#pragma unroll 4
    for (int row = first; row < min(first + chunk, rows); row++) {
        const size_t place = static_cast<size_t>(row) * F + column;
        float gradient[V], input[V];
        load_vector<V>(dy + place, gradient);
        load_vector<V>(h + place, input);
#pragma unroll
        for (int i = 0; i < V; i++) {
            const float y = tanhf(input[i] + added[i]);
            gradient[i] *= 1 - y * y;
            sums[i] += gradient[i];
        }
        store_vector<V>(dh + place, gradient);
    }
    store_vector<V>(partials + static_cast<size_t>(blockIdx.y) * F + column, sums);
}
