"""Lesson 29: flash attention. Fill in the functions, then run: pytest lessons/29_flash_attention"""

import math  # noqa: F401 - math.sqrt keeps float32 what it is

import numpy as np  # noqa: F401


def flash_attention(q, k, v, tile):
    """The attention of one head, a tile of queries and a tile of keys at a time.

    q, k, v (N, K). Returns o (N, K) and log_sums (N,), the log of the sum of exp(score) over each row. No
    array may have more than tile * tile numbers, but for those of shape (N, K) or (N,). The last tile may be
    smaller, since tile need not divide N. The scores may be in the thousands.
    """
    raise NotImplementedError("write flash_attention: what is known of a row, and what does a tile add?")


def flash_attention_backward(dO, q, k, v, o, log_sums, tile):
    """Gradients of flash_attention: dq, dk, dv, each (N, K), from dO, q, k, v, o (N, K) and log_sums (N,).

    Again with tiles: each tile of A is computed anew, used, and forgotten.
    """
    raise NotImplementedError("write flash_attention_backward: A from log_sums; what adds up where?")


def flash_attention_kernel():
    """The kernel of the forward, one thread for each query: fill in 1 to 4, and place the barriers.

    Above this text stand K, the width of a head, and TILE, how many keys are in a tile: both are constants.
    Launched with blocks of any number of threads, and with as many blocks as it takes. Each block reads every
    key and every value from memory once, and each query is read once.
    """
    raise NotImplementedError("write flash_attention_kernel: who loads a tile, and who still needs it?")
    return r"""
extern "C" __global__ void flash_attention(const float* q, const float* k, const float* v, float* o,
                                           float* log_sums, int N) {
    __shared__ float keys[TILE][K], values[TILE][K];
    const int query = blockIdx.x * blockDim.x + threadIdx.x;
    float asking[K], mix[K], scores[TILE];  // this thread's own
    // 1. Read the query. What are the mix, the largest and the total before the first tile?

    for (int first = 0; first < N; first += TILE) {
        // 2. All threads of the block load a tile together: keys first, first + 1, ... and their values.

        // 3. The scores of this thread's query, and the running softmax.

    }
    // 4. Write o and log_sums.

}
"""


# The puzzle: keys that are spread over several GPUs.


def merge_parts(parts):
    """The attention to all keys, from the attention to each part of them.

    parts is a list of pairs (o, log_sums), with o (N, K) and log_sums (N,): what flash_attention returns for
    the same queries and a part of the keys. Returns o and log_sums for all keys. log_sums may be in the
    thousands.
    """
    raise NotImplementedError("write merge_parts: how much does each part count?")
