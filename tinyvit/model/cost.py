"""The cost of a model, computed from its shape: parameters, multiply-adds, memory for a training step."""

from math import prod

from tinyvit.model import ViTConfig, layout
from tinyvit.model.later import PARTS
from tinyvit.model.later.resnet import resnet_activation_bytes


def parameter_count(config: ViTConfig) -> int:
    """Number of parameters."""
    return sum(prod(row.shape) for row in layout(config))


def multiply_adds(config: ViTConfig) -> int:
    """Multiply-adds of one forward pass on one image; training costs about three times that.

    With T patches of P*P*channels numbers, N tokens, width D, MLP width M, L layers and C classes:

        patches    P P channels T D                      channels of the feature map, in a hybrid
        a block    N (4 D^2 + 2 D M)  +  2 N^2 D         (linear layers, and q k^T and A v)
        head       D C                                   T times, if it predicts patches

    Every token counts in every block, as is usual, although in the last block of a class-token model most are
    left out (see ViTConfig.tokens_needed_after). A ResNet without a Transformer has no patches to embed, and
    no blocks. Parts beside the paper's main model, such as a ResNet, add what they cost: see model.later.
    """
    D, M, T = config.width, config.mlp_width, config.patches
    embedding = config.patch_size**2 * config.feature_map[2] * T * D if config.has_transformer else 0
    tokens = map(config.tokens_of, range(config.layers))
    blocks = sum(N * (4 * D * D + 2 * D * M) + 2 * N * N * D for N in tokens)
    head = (T if config.predicts_patches else 1) * config.feature_width * config.classes
    return embedding + blocks + head + sum(part.multiply_adds(config) for part in PARTS if part.is_in(config))


def activation_bytes(config: ViTConfig, bytes_each: int = 4) -> int:
    """Bytes that the caches for one image hold between its forward and its backward pass, in training.

    The parameters are not counted, since the caches only refer to them. Of the paper's ViT, model.forward and
    ops.cross_entropy keep these numbers, of bytes_each bytes each. What later ViTs keep besides, up to half
    as much again, is not counted.

        ResNet     see model.later.resnet, if there is one
        patches    P P channels T                        the input of the patch embedding
        blocks     see block_activations
        the rest   R (D + 1) + D + pre_logits + 2 C      LayerNorm, head, loss; R rows leave the last block

    and another N D for the mask of dropout on the embedding. A model that predicts patches keeps
    D + pre_logits + 2 C (C for pixels) for each corrupted patch; here 2 C are counted, and all patches. A
    ResNet on its own has no patches, blocks or LayerNorm: D + pre_logits + 2 C are all that is left. Memory
    grows with the number of images computed at a time: the whole batch, or part of it (--accumulate, or
    micro-batches on the CPU).
    """
    last = config.layers - 1
    T, R = config.patches, config.tokens_needed_after(last) or config.tokens_of(last)
    heads = T if config.predicts_patches else 1
    numbers = heads * (config.width + config.pre_logits + 2 * config.classes)
    if config.has_transformer:
        numbers += config.patch_size**2 * config.feature_map[2] * T + R * (config.width + 1)
    numbers += config.tokens * config.width if config.dropout else 0
    numbers += sum(block_activations(config, i) for i in range(config.layers))
    return numbers * bytes_each + resnet_activation_bytes(config, bytes_each)


def block_activations(config: ViTConfig, i: int) -> int:
    """Number of values that the cache of block i holds for one image.

    With N tokens, of which R are returned (1 in the last block of a class-token model, otherwise all):

        LayerNorm      N (D + 1)  and  N D               n and r, and its output
        attention      3 N D  +  R D  +  H R N  +  R D   q k v, q scaled, A, its output
        LayerNorm      R (D + 1)  and  R D
        MLP            3 R M                             before the GELU, its gate, after it

    Dropout adds a mask wherever it acts, and for A also the result. Stochastic depth adds two numbers.
    The paper's positions add nothing: the queries and the tables are all that relative ones need.
    """
    D, M, N, H = config.width, config.mlp_width, config.tokens_of(i), config.heads
    R = config.tokens_needed_after(i) or N
    numbers = 2 * N * D + N + 3 * N * D + 2 * R * D + H * R * N + 2 * R * D + R + 3 * R * M
    if config.dropout:
        numbers += R * D + R * M + R * D
    if config.attention_dropout:
        numbers += 2 * H * R * N
    return numbers + (2 if config.drop_path_rate(i) else 0)
