// What is predicted of corrupted patches, and the loss of pixels: mirrors tinyvit/objectives/patch_targets.py and
// tinyvit/ops/squared_error.py.

#include "numbers.cuh"
#include "warp.cuh"

constexpr int ROWS = 8;    // of a block
constexpr int LEVELS = 8;  // of each channel of a colour

// Patches of P x P normalised pixels with C channels, patches (R, P P C), to the classes of their colours, (R, side,
// side): a patch is cut into side x side parts, and a class stands for the mean of one. A warp does one of `parts`.
// The mean is of whole bytes, whose sum is exact, so that it is in the same class in every order of summation.
// Bytes moved: patches in, classes out.
__global__ void __launch_bounds__(ROWS * WARP)
colour_classes(const float* patches, int* classes, int parts, int side, int P, int C) {
    const int part = blockIdx.x * ROWS + threadIdx.x / WARP, lane = threadIdx.x % WARP;
    if (part >= parts) return;  // a whole warp skips this together
    const int within = part % (side * side), length = P / side, pixels = length * length;
    const int top = within / side * length, left = within % side * length;
    const float* patch = patches + static_cast<size_t>(part / (side * side)) * P * P * C;
    int found = 0;
    for (int c = 0; c < C; c++) {
        float sum = 0;
        for (int i = lane; i < pixels; i += WARP)
            sum += rintf((patch[((top + i / length) * P + left + i % length) * C + c] + 1) * 127.5f);
        const float level = floorf(warp_sum(sum) / pixels / (256 / LEVELS));
        found = found * LEVELS + static_cast<int>(fminf(fmaxf(level, 0), LEVELS - 1));
    }
    if (lane == 0) classes[part] = found;
}

// y (rows, C) without its bias (C,), against truth (rows, C). scale is share / (rows C). Writes, for each block's rows,
// losses (P,); dy (rows, C); and the column sums of dy over the block's rows, a row of partials (P, C).
// Bytes moved: y and truth in, dy out.
template <typename T>
__global__ void __launch_bounds__(256)
squared_error(const T* __restrict__ y, const float* __restrict__ bias, const float* __restrict__ truth, float scale,
              float* losses, T* __restrict__ dy, float* partials, int rows, int C) {
    __shared__ float scratch[256 / WARP];
    const int first = blockIdx.x * ROWS;
    float sum = 0;
    for (int c = threadIdx.x; c < C; c += blockDim.x) {
        float column = 0;
        for (int r = first; r < min(first + ROWS, rows); r++) {
            const size_t place = static_cast<size_t>(r) * C + c;
            const float error = as_float(y[place]) + bias[c] - truth[place];
            sum += error * error;                  // eq. 1
            const float slope = 2 * scale * error;  // eq. 2
            store(dy + place, slope);
            column += slope;
        }
        partials[static_cast<size_t>(blockIdx.x) * C + c] = column;
    }
    sum = block_sum(sum, scratch);
    if (threadIdx.x == 0) losses[blockIdx.x] = sum * scale;
}
