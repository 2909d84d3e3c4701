// Logits for whoever asked for predictions: the head's product plus its bias, in float32 whatever the precision of the
// model. A thread does one number; there are few. Bytes moved: sizeof(T) in and 4 out for each.

#include "numbers.cuh"

template <typename T>
__global__ void __launch_bounds__(256) add_bias(const T* logits, const float* bias, float* out, int rows, int C) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * C) out[i] = as_float(logits[i]) + bias[i % C];
}
