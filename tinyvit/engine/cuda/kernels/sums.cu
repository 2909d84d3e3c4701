// The last additions of all gradients that are sums over rows (biases, gains, positions), in one launch.
//
// The backward kernels leave partial sums: for a bias of D numbers, P rows of D. A job is a row of the table `jobs`:
//
//     start in partials, rows, columns (at most 32), start in grads, numbers from one row to the next
//
// and a block does one job: 32 threads side by side have a column each, so that a warp reads 32 neighbours of a row,
// and 16 such warps share the rows. Each thread adds its rows, then the first warp adds the 16 sums of each column,
// always in the same order. The result is added to the gradient or, if that is new, put there.
//
// Bytes moved: 4 for each partial sum, and 8 for each gradient, which is read and written, or 4 if it is new.

#include "warp.cuh"

constexpr int HEIGHT = 16;

__global__ void __launch_bounds__(WARP * HEIGHT)
add_columns(const int* jobs, const float* __restrict__ partials, float* grads, int accumulate) {
    __shared__ float shared[HEIGHT][WARP];
    const int* job = jobs + 5 * blockIdx.x;
    const int rows = job[1], columns = job[2], stride = job[4];
    const int column = threadIdx.x;
    const float* from = partials + job[0] + column;

    float sum = 0;
    if (column < columns) {
#pragma unroll 4
        for (int row = threadIdx.y; row < rows; row += HEIGHT) sum += from[static_cast<size_t>(row) * stride];
    }
    shared[threadIdx.y][column] = sum;
    __syncthreads();
    if (threadIdx.y == 0 && column < columns) {
        sum = 0;
#pragma unroll
        for (int y = 0; y < HEIGHT; y++) sum += shared[y][column];
        float* grad = grads + job[3] + column;
        *grad = accumulate ? *grad + sum : sum;
    }
}
