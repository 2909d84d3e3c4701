"""Flash attention in NumPy and in CUDA C; the engine's own is tinyvit/engine/cuda/kernels/attention.cu."""

import math

import numpy as np


def flash_attention(q, k, v, tile):
    """o and log_sums, a tile of queries and a tile of keys at a time."""
    N, K = q.shape
    o, log_sums = np.empty_like(v), np.empty(N, q.dtype)
    for rows in _tiles(N, tile):
        asking = q[rows] * (1 / math.sqrt(K))  # (t, K), with t = tile, or fewer in the last
        mix = np.zeros_like(asking)  # (t, K)
        total = np.zeros_like(asking[:, :1])  # (t, 1)
        largest = np.full_like(total, -np.inf)  # (t, 1)
        for columns in _tiles(N, tile):
            S = asking @ k[columns].T  # (t, t)
            now = np.maximum(largest, S.max(axis=1, keepdims=True))
            shrink = np.exp(largest - now)  # 0 the first time
            shares = np.exp(S - now)
            total = total * shrink + shares.sum(axis=1, keepdims=True)
            mix = mix * shrink + shares @ v[columns]
            largest = now
        o[rows] = mix / total
        log_sums[rows] = (largest + np.log(total))[:, 0]
    return o, log_sums


def flash_attention_backward(dO, q, k, v, o, log_sums, tile):
    """dq, dk and dv; each tile of A is computed anew."""
    N, K = q.shape
    scale = 1 / math.sqrt(K)
    dq, dk, dv = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
    for rows in _tiles(N, tile):
        D = (dO[rows] * o[rows]).sum(axis=1, keepdims=True)  # (t, 1)
        for columns in _tiles(N, tile):
            A = np.exp(q[rows] @ k[columns].T * scale - log_sums[rows, None])  # (t, t)
            dS = A * (dO[rows] @ v[columns].T - D) * scale
            dq[rows] += dS @ k[columns]
            dk[columns] += dS.T @ q[rows]
            dv[columns] += A.T @ dO[rows]
    return dq, dk, dv


def _tiles(N, tile):
    return [slice(start, start + tile) for start in range(0, N, tile)]


def flash_attention_kernel():
    """One thread for each query; the tiles of keys and values are loaded by all threads of a block."""
    return r"""
extern "C" __global__ void flash_attention(const float* q, const float* k, const float* v, float* o,
                                           float* log_sums, int N) {
    __shared__ float keys[TILE][K], values[TILE][K];
    const int query = blockIdx.x * blockDim.x + threadIdx.x;
    float asking[K], mix[K], scores[TILE];  // this thread's own
    float largest = -1e30f, total = 0;
    for (int i = 0; i < K; i++) {
        asking[i] = query < N ? q[query * K + i] / sqrtf(K) : 0;
        mix[i] = 0;
    }
    for (int first = 0; first < N; first += TILE) {
        for (int i = threadIdx.x; i < TILE * K; i += blockDim.x) {
            const bool real = first + i / K < N;  // the last tile may have fewer keys
            keys[i / K][i % K] = real ? k[first * K + i] : 0;
            values[i / K][i % K] = real ? v[first * K + i] : 0;
        }
        __syncthreads();  // the tile is there
        float now = largest;
        for (int j = 0; j < TILE; j++) {
            float score = 0;
            for (int i = 0; i < K; i++) score += asking[i] * keys[j][i];
            scores[j] = first + j < N ? score : -1e30f;
            now = fmaxf(now, scores[j]);
        }
        const float shrink = expf(largest - now);
        total *= shrink;
        for (int i = 0; i < K; i++) mix[i] *= shrink;
        for (int j = 0; j < TILE; j++) {
            const float share = expf(scores[j] - now);
            total += share;
            for (int i = 0; i < K; i++) mix[i] += share * values[j][i];
        }
        largest = now;
        __syncthreads();  // all are done with the tile
    }
    if (query >= N) return;
    for (int i = 0; i < K; i++) o[query * K + i] = mix[i] / total;
    log_sums[query] = largest + logf(total);
}
"""


def merge_parts(parts):
    """o and log_sums for all keys: each part counts as much as its sum is of the whole sum."""
    log_sums = np.logaddexp.reduce([each for _, each in parts])
    o = sum(np.exp(each - log_sums)[:, None] * part for part, each in parts)
    return o, log_sums
