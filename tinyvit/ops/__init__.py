"""The mathematics: one file per operation, forward above backward, the same code for NumPy and CuPy.

    y, cache = operation(x, ...)
    dx, ... = operation_backward(dy, cache)

Nothing here knows about models, and no state is kept between calls: the cache holds all that the backward
pass needs. The letters mean the same in every file: B images in the batch, N tokens (T patches plus the class
token, if there is one), D width, H heads, K width of a head, M width of the MLP, C classes, P patch size, L
layers.
"""

from tinyvit.ops.attention import (
    attend,
    attend_backward,
    attention,
    attention_backward,
    attention_probabilities,
)
from tinyvit.ops.attention_pool import attention_pool, attention_pool_backward, pool_probabilities
from tinyvit.ops.convolution import convolution, convolution_backward
from tinyvit.ops.corruption import Corruption, corrupt, corrupt_backward, corrupted_patches, draw_corruption
from tinyvit.ops.cross_entropy import cross_entropy, cross_entropy_backward
from tinyvit.ops.drop_path import drop_path, drop_path_backward
from tinyvit.ops.dropout import dropout, dropout_backward
from tinyvit.ops.embedding import (
    class_token,
    class_token_backward,
    position_embedding,
    position_embedding_backward,
    register_tokens,
    register_tokens_backward,
)
from tinyvit.ops.erf import erf
from tinyvit.ops.gate import gate, gate_backward
from tinyvit.ops.gelu import GELU_FORMS, gelu, gelu_backward
from tinyvit.ops.group_norm import group_norm, group_norm_backward
from tinyvit.ops.layer_norm import layer_norm, layer_norm_backward
from tinyvit.ops.layer_scale import layer_scale, layer_scale_backward
from tinyvit.ops.linear import linear, linear_backward
from tinyvit.ops.max_pool import max_pool, max_pool_backward
from tinyvit.ops.merging import merge_squares, merge_squares_backward
from tinyvit.ops.mlp import mlp, mlp_backward
from tinyvit.ops.noise import Noise, draw_rows
from tinyvit.ops.patches import patchify, patchify_backward, unpatchify
from tinyvit.ops.pooling import (
    mean_pool,
    mean_pool_backward,
    row_pool,
    row_pool_backward,
    token_pool,
    token_pool_backward,
)
from tinyvit.ops.position_tables import positions_2d, positions_2d_backward, positions_sincos
from tinyvit.ops.relative_bias import relative_bias, relative_bias_backward
from tinyvit.ops.relative_scores import relative_scores, relative_scores_backward
from tinyvit.ops.relu import relu, relu_backward
from tinyvit.ops.rotary import Turn, rotary, rotary_backward
from tinyvit.ops.softmax import softmax, softmax_backward
from tinyvit.ops.squared_error import squared_error, squared_error_backward
from tinyvit.ops.tanh import tanh, tanh_backward
from tinyvit.ops.weight_standardisation import weight_standardisation, weight_standardisation_backward
from tinyvit.ops.windows import windows, windows_backward

__all__ = [
    "GELU_FORMS",
    "Corruption",
    "Noise",
    "Turn",
    "attend",
    "attend_backward",
    "attention",
    "attention_backward",
    "attention_pool",
    "attention_pool_backward",
    "attention_probabilities",
    "class_token",
    "class_token_backward",
    "convolution",
    "convolution_backward",
    "corrupt",
    "corrupt_backward",
    "corrupted_patches",
    "cross_entropy",
    "cross_entropy_backward",
    "draw_corruption",
    "draw_rows",
    "drop_path",
    "drop_path_backward",
    "dropout",
    "dropout_backward",
    "erf",
    "gate",
    "gate_backward",
    "gelu",
    "gelu_backward",
    "group_norm",
    "group_norm_backward",
    "layer_norm",
    "layer_norm_backward",
    "layer_scale",
    "layer_scale_backward",
    "linear",
    "linear_backward",
    "max_pool",
    "max_pool_backward",
    "mean_pool",
    "mean_pool_backward",
    "merge_squares",
    "merge_squares_backward",
    "mlp",
    "mlp_backward",
    "patchify",
    "patchify_backward",
    "pool_probabilities",
    "position_embedding",
    "position_embedding_backward",
    "positions_2d",
    "positions_2d_backward",
    "positions_sincos",
    "register_tokens",
    "register_tokens_backward",
    "relative_bias",
    "relative_bias_backward",
    "relative_scores",
    "relative_scores_backward",
    "relu",
    "relu_backward",
    "rotary",
    "rotary_backward",
    "row_pool",
    "row_pool_backward",
    "softmax",
    "softmax_backward",
    "squared_error",
    "squared_error_backward",
    "tanh",
    "tanh_backward",
    "token_pool",
    "token_pool_backward",
    "unpatchify",
    "weight_standardisation",
    "weight_standardisation_backward",
    "windows",
    "windows_backward",
]
