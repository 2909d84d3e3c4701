// Softmax, loss and gradient in one kernel: mirrors tinyvit/ops/cross_entropy.py (eq. 1, 3 and 4), with the bias of the
// head. The probabilities are never written. Below it, what is predicted of corrupted patches, and the loss of pixels:
// mirrors tinyvit/objectives/masked_patches.py and tinyvit/ops/squared_error.py.

#include "numbers.cuh"
#include "warp.cuh"

constexpr int ROWS = 8;    // of a block: one for each of its warps
constexpr int LEVELS = 8;  // of each channel of a colour

// What a row is compared with: a label, two labels that share it (tinyvit/data/mixing.py, eq. 1), or the probabilities
// of all classes; smoothed towards equal probabilities.
struct Target {
    int label, other;
    float share;        // of the other label
    const float* soft;  // null if there is a label
    float sharp, even;  // 1 - smoothing, smoothing / C

    __device__ float operator()(int c) const {
        const float hard = (1 - share) * (c == label) + share * (c == other);
        return sharp * (soft ? soft[c] : hard) + even;
    }
};

// logits (batch, C) without their bias; labels, or soft (batch, C); the other is null. With a plan, row b has the
// label number plan[b], or else number b; with mixing, label number plan[b + 1] has the share of it in row 5. scale is
// share / batch. Writes losses (batch,) and dlogits (batch, C), both times scale, and the column sums of dlogits over
// this block's rows, row blockIdx.x of partials (P, C).
//
// With gridDim.y = G > 1 there are G predictions for each b, with a bias each: logits, labels and losses have G rows for
// each, bias and partials G times C columns, and blocks (., g) do the prediction number g.
//
// First each warp does one row: its maximum, the sum of its exponentials and its loss. Then the threads lie across the
// columns: each goes down the block's rows, so that it has a column's sum without asking another thread.
// Bytes moved: logits in, dlogits out; the second and third time, the logits come from the cache.
template <typename T>
__global__ void __launch_bounds__(ROWS * WARP)
cross_entropy(const T* __restrict__ logits, const float* __restrict__ bias, const int* labels, const float* soft,
              const int* plan, const int* mixing, float sharp, float even, float scale, float* losses,
              T* __restrict__ dlogits, float* partials, int batch, int C) {
    __shared__ float largest[ROWS], total[ROWS];
    __shared__ Target targets[ROWS];
    const int first = blockIdx.x * ROWS, warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    bias += blockIdx.y * C;

    if (first + warp < batch) {  // a whole warp skips this together
        const int b = first + warp, at = b * gridDim.y + blockIdx.y;
        const T* row = logits + static_cast<size_t>(at) * C;
        const int place = plan ? plan[b] : at, other_place = mixing ? plan[b + 1] : place;
        const float share = mixing ? __int_as_float(mixing[5 * batch + b]) : 0;

        float most = as_float(row[0]) + bias[0];
        for (int c = lane; c < C; c += WARP) most = fmaxf(most, as_float(row[c]) + bias[c]);
        most = warp_max(most);

        const int label = soft ? 0 : labels[place], other = mixing ? labels[other_place] : label;
        const float* probabilities = soft ? soft + static_cast<size_t>(b) * C : nullptr;
        const Target target = {label, other, share, probabilities, sharp, even};
        float sum = 0, expected = 0;  // the sums over c of exp(z) and of t z
        for (int c = lane; c < C; c += WARP) {
            const float z = as_float(row[c]) + bias[c] - most;
            sum += expf(z);
            const float t = target(c);
            if (t != 0) expected += t * z;  // z may be -inf
        }
        sum = warp_sum(sum);
        expected = warp_sum(expected);
        if (lane == 0) {
            losses[at] = (logf(sum) - expected) * scale;  // eq. 3
            largest[warp] = most;
            total[warp] = sum;
            targets[warp] = target;
        }
    }
    __syncthreads();

    for (int c = threadIdx.x; c < C; c += blockDim.x) {
        float column = 0;
        const int distance = gridDim.y * C;
        const size_t top = static_cast<size_t>(first) * distance + blockIdx.y * C + c;
        const float added = bias[c];
        for_each_row<ROWS, 1>(
            logits + top, distance, 0, min(ROWS, batch - first), 1, [&](int r, const Fetched<T, 1>& logit) {
                const float p = expf(logit[0] + added - largest[r]) / total[r];  // eq. 1
                const float gradient = (p - targets[r](c)) * scale;              // eq. 4
                store(dlogits + top + r * distance, gradient);
                column += gradient;
            });
        partials[(static_cast<size_t>(blockIdx.x) * gridDim.y + blockIdx.y) * C + c] = column;
    }
}

// loss = the sum of losses (count,), added to what is there if `accumulate`. One block of 256 threads.
__global__ void __launch_bounds__(256) add_losses(const float* losses, float* loss, int count, int accumulate) {
    __shared__ float scratch[256 / WARP];
    float sum = 0;
    for (int b = threadIdx.x; b < count; b += blockDim.x) sum += losses[b];
    sum = block_sum(sum, scratch);
    if (threadIdx.x == 0) loss[0] = accumulate ? loss[0] + sum : sum;
}

// Logits for predictions: the head's product plus its bias, in float32 whatever the precision of the model. A thread
// does one number; there are few. Bytes moved: sizeof(T) in and 4 out for each.
template <typename T>
__global__ void __launch_bounds__(256) add_bias(const T* logits, const float* bias, float* out, int rows, int C) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * C) out[i] = as_float(logits[i]) + bias[i % C];
}

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
