"""What a model costs, computed from its shape: parameters, multiply-adds, memory for a training step."""

from __future__ import annotations

from math import prod

from tinyvit.model import ViTConfig, layout


def parameter_count(config: ViTConfig) -> int:
    """How many numbers a model learns."""
    return sum(prod(row.shape) for row in layout(config))


def multiply_adds(config: ViTConfig) -> int:
    """Multiply-adds of one forward pass on one image; training costs about three times that.

    With T patches of P*P*channels numbers, N tokens, width D, MLP width M, L layers and C classes:

        patches    P P channels T D
        a block    N (4 D^2 + 2 D M)  +  2 N^2 D         (linear layers, and q k^T and A v)
        head       D C
    """
    D, M, N = config.width, config.mlp_width, config.tokens
    patches = config.grid[0] * config.grid[1]
    embedding = config.patch_size**2 * config.channels * patches * D
    block = N * (4 * D * D + 2 * D * M) + 2 * N * N * D
    features = config.pre_logits or D
    return embedding + config.layers * block + D * config.pre_logits + features * config.classes


def activation_bytes(config: ViTConfig, bytes_each: int = 4) -> int:
    """Bytes that the caches for one image hold between its forward and its backward pass, in training.

    The parameters are not counted, since the caches only refer to them. model.forward and ops.cross_entropy
    keep these numbers, of bytes_each bytes each:

        patches    P P channels T                        the input of the patch embedding
        blocks     see block_activations
        the rest   R (D + 1) + D + pre_logits + 2 C      LayerNorm, head, loss; R rows leave the last block

    and another N D for the mask of dropout on the embedding. Memory grows with the number of images computed
    at a time: the whole batch, or part of it (--accumulate, or micro-batches on the CPU).
    """
    T, R = config.grid[0] * config.grid[1], 1 if config.has_token else config.tokens
    numbers = config.patch_size**2 * config.channels * T
    numbers += config.tokens * config.width if config.dropout else 0
    numbers += sum(block_activations(config, i) for i in range(config.layers))
    numbers += R * (config.width + 1) + config.width + config.pre_logits + 2 * config.classes
    return numbers * bytes_each


def block_activations(config: ViTConfig, i: int) -> int:
    """How many numbers the cache of block i holds for one image.

    With N tokens, of which R are returned (1 in the last block of a class-token model, otherwise all):

        LayerNorm      N (D + 1)  and  N D               n and r, and its output
        attention      3 N D  +  R D  +  H R N  +  R D   q k v, q scaled, A, its output
        LayerNorm      R (D + 1)  and  R D
        MLP            3 R M                             before the GELU, its gate, after it

    Dropout adds a mask wherever it acts, and for A also the result. Stochastic depth adds two numbers.
    """
    D, M, N, H = config.width, config.mlp_width, config.tokens, config.heads
    R = config.rows_after(i) or N
    numbers = 2 * N * D + N + 3 * N * D + 2 * R * D + H * R * N + 2 * R * D + R + 3 * R * M
    if config.dropout:
        numbers += R * D + R * M + R * D
    if config.attention_dropout:
        numbers += 2 * H * R * N
    return numbers + (2 if config.drop_path_rate(i) else 0)
