"""Plain attention in three kernels, with the tiles of the flash kernel, to compare the bytes.

N x N scores go to memory, come back for the softmax, go there again, and come back for the mix.
"""

from __future__ import annotations

import numpy as np

from lessons.cuda_on_cpu import RawModule, Traffic, checking

CODE = r"""
extern "C" __global__ void scores(const float* q, const float* k, float* S, int N) {
    __shared__ float keys[TILE][K];
    const int query = blockIdx.x * blockDim.x + threadIdx.x;
    float asking[K];
    for (int i = 0; i < K; i++) asking[i] = query < N ? q[query * K + i] / sqrtf(K) : 0;
    for (int first = 0; first < N; first += TILE) {
        for (int i = threadIdx.x; i < TILE * K && first * K + i < N * K; i += blockDim.x)
            keys[i / K][i % K] = k[first * K + i];
        __syncthreads();
        for (int j = 0; j < TILE && first + j < N && query < N; j++) {
            float score = 0;
            for (int i = 0; i < K; i++) score += asking[i] * keys[j][i];
            S[query * N + first + j] = score;
        }
        __syncthreads();
    }
}

// One warp for each row of at most 1,024 scores, which it keeps in registers.
extern "C" __global__ void softmax(const float* S, float* A, int N) {
    const int lane = threadIdx.x, row = blockIdx.x;
    float values[32], largest = -1e30f, sum = 0;
    for (int c = lane; c < N; c += 32) largest = fmaxf(largest, values[c / 32] = S[row * N + c]);
    for (int d = 16; d > 0; d /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, d));
    for (int c = lane; c < N; c += 32) sum += values[c / 32] = expf(values[c / 32] - largest);
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
    for (int c = lane; c < N; c += 32) A[row * N + c] = values[c / 32] / sum;
}

extern "C" __global__ void mixture(const float* A, const float* v, float* o, int N) {
    __shared__ float values[TILE][K];
    const int query = blockIdx.x * blockDim.x + threadIdx.x;
    float mix[K] = {};
    for (int first = 0; first < N; first += TILE) {
        for (int i = threadIdx.x; i < TILE * K && first * K + i < N * K; i += blockDim.x)
            values[i / K][i % K] = v[first * K + i];
        __syncthreads();
        for (int j = 0; j < TILE && first + j < N && query < N; j++) {
            const float share = A[query * N + first + j];
            for (int i = 0; i < K; i++) mix[i] += share * values[j][i];
        }
        __syncthreads();
    }
    for (int i = 0; i < K && query < N; i++) o[query * K + i] = mix[i];
}
"""


def sizes(K: int, tile: int) -> str:
    """The line above a kernel's text: the width of a head, and the number of keys in a tile."""
    return f"constexpr int K = {K}, TILE = {tile};\n"


def plain_attention(q, k, v, tile: int, threads: int) -> tuple[np.ndarray, list[Traffic]]:
    """o (N, K), and what each of the three kernels reads and writes."""
    N, K = q.shape
    S, A, o = np.zeros((N, N), np.float32), np.zeros((N, N), np.float32), np.zeros_like(q)
    module = RawModule(code=sizes(K, tile) + CODE)
    blocks, n = -(-N // threads), np.int32(N)
    with checking() as checks:
        module.get_function("scores")((blocks,), (threads,), (q, k, S, n))
        module.get_function("softmax")((N,), (32,), (S, A, n))
        module.get_function("mixture")((blocks,), (threads,), (A, v, o, n))
    return o, checks.launches


def flash(text: str, q, k, v, tile: int, threads: int) -> tuple[np.ndarray, np.ndarray, Traffic]:
    """o (N, K) and log_sums (N,), by the flash kernel of this text, and what it reads and writes."""
    N, K = q.shape
    o, log_sums = np.zeros_like(q), np.zeros(N, np.float32)
    with checking() as checks:
        kernel = RawModule(code=sizes(K, tile) + text).get_function("flash_attention")
        kernel((-(-N // threads),), (threads,), (q, k, v, o, log_sums, np.int32(N)))
    return o, log_sums, checks.launches[0]
