"""Three kernels for dx of LayerNorm, in double, so that central differences can judge them. One is wrong.

    dx = r (g - mean(g) - n mean(g n))        g = dy * weight        n = (x - mean) r

The kernels agree on what they compute and differ in who computes it: a warp for each row, a block for each
row, or half a warp for each row. __shfl_down_sync(mask, value, d) returns the value of lane + d: with d = 16,
8, 4, 2 and 1, lane 0 gets the sum.
"""

import importlib

import numpy as np

from tinyvit import ops

running = importlib.import_module("lessons.28_kernels.running")

CODE = r"""
extern "C" __global__ void one_warp(const double* dy, const double* x, const double* mean, const double* r,
                                    const double* weight, double* dx, int rows, int D) {
    const int lane = threadIdx.x % 32;
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= rows) return;
    double sum = 0, product = 0;
    for (int c = lane; c < D; c += 32) {
        const double g = dy[row * D + c] * weight[c];
        sum += g;
        product += g * (x[row * D + c] - mean[row]) * r[row];
    }
    for (int distance = 1; distance < 32; distance *= 2) {
        sum += __shfl_xor_sync(0xffffffff, sum, distance);
        product += __shfl_xor_sync(0xffffffff, product, distance);
    }
    for (int c = lane; c < D; c += 32) {
        const double g = dy[row * D + c] * weight[c];
        const double n = (x[row * D + c] - mean[row]) * r[row];
        dx[row * D + c] = r[row] * (g - sum / D - n * product / D);
    }
}

extern "C" __global__ void one_block(const double* dy, const double* x, const double* mean, const double* r,
                                     const double* weight, double* dx, int rows, int D) {
    __shared__ double sums[4], products[4];
    const int row = blockIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    double sum = 0, product = 0;
    for (int c = threadIdx.x; c < D; c += blockDim.x) {
        const double g = dy[row * D + c] * weight[c];
        sum += g;
        product += g * (x[row * D + c] - mean[row]) * r[row];
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(0xffffffff, sum, distance);
        product += __shfl_down_sync(0xffffffff, product, distance);
    }
    if (lane == 0) {
        sums[warp] = sum;
        products[warp] = product;
    }
    __syncthreads();
    sum = product = 0;
    for (int w = 0; w < blockDim.x / 64; w++) {
        sum += sums[w];
        product += products[w];
    }
    for (int c = threadIdx.x; c < D; c += blockDim.x) {
        const double g = dy[row * D + c] * weight[c];
        const double n = (x[row * D + c] - mean[row]) * r[row];
        dx[row * D + c] = r[row] * (g - sum / D - n * product / D);
    }
}

extern "C" __global__ void half_a_warp(const double* dy, const double* x, const double* mean, const double* r,
                                       const double* weight, double* dx, int rows, int D) {
    const int lane = threadIdx.x % 16;
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 16;
    double sum = 0, product = 0;
    for (int c = lane; c < D && row < rows; c += 16) {
        const double g = dy[row * D + c] * weight[c];
        sum += g;
        product += g * (x[row * D + c] - mean[row]) * r[row];
    }
    for (int distance = 8; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(0xffffffff, sum, distance);
        product += __shfl_xor_sync(0xffffffff, product, distance);
    }
    for (int c = lane; c < D && row < rows; c += 16) {
        const double g = dy[row * D + c] * weight[c];
        const double n = (x[row * D + c] - mean[row]) * r[row];
        dx[row * D + c] = r[row] * (g - sum / D - n * product / D);
    }
}
"""


THREADS = {"one_warp": 64, "one_block": 128, "half_a_warp": 64}  # of a block
ROWS = {"one_warp": 2, "one_block": 1, "half_a_warp": 4}  # that a block takes


def forward(x, weight, bias):
    """LayerNorm, with a cache for the kernels."""
    y, (n, r, _) = ops.layer_norm(x, weight, bias)
    return y, (np.array(x), np.array(weight), n, r)


def suspects():
    """The pair of a forward and a backward for each kernel; dweight and dbias are right."""
    return {name: (forward, backward_by(name)) for name in THREADS}


def backward_by(name):
    """The backward whose dx comes from the kernel of this name."""
    kernel = running.compiled(CODE, name)

    def backward(dy, cache):
        x, weight, n, r = cache
        dx, (rows, D) = np.empty_like(x), x.shape
        arguments = {
            "dy": dy,
            "x": x,
            "mean": x.mean(axis=1),
            "r": r[:, 0].copy(),
            "weight": weight,
            "dx": dx,
        }
        kernel((-(-rows // ROWS[name]),), (THREADS[name],), **arguments, rows=rows, D=D)
        return dx, (dy * n).sum(axis=0), dy.sum(axis=0)

    return backward
