"""Every operation of tinyvit.ops that has a backward: how it is called, and the shapes of its inputs."""

from dataclasses import dataclass

from hypothesis import strategies as st

from tinyvit import ops
from tinyvit.backend import array_module


@dataclass(frozen=True)
class Sizes:
    """Images, tokens, heads, head width, MLP width, classes, patch size, patches down and across."""

    B: int
    N: int
    H: int
    K: int
    M: int
    C: int
    P: int
    rows: int
    columns: int

    @property
    def D(self):  # noqa: N802
        return self.H * self.K

    @property
    def tokens(self):
        return self.B, self.N, self.D

    @property
    def images(self):  # of at least one patch
        return self.B, self.P + self.rows, self.P + self.columns, self.C

    @property
    def k(self):  # an odd number, for kernels
        return 2 * self.P - 1


def some_sizes():
    return st.builds(
        Sizes,
        B=st.integers(1, 3),
        N=st.integers(1, 5),
        H=st.integers(1, 3),
        K=st.integers(1, 3),
        M=st.integers(1, 7),
        C=st.integers(2, 5),
        P=st.integers(1, 3),
        rows=st.integers(1, 3),
        columns=st.integers(1, 3),
    )


def noise():
    return ops.Noise(seed=5, step=6)  # new for every call: every forward pass drops the same numbers


def attention_shapes(s):
    return (s.B + 1, s.N + 2, s.D), (s.D, 3 * s.D), (3 * s.D,), (s.D, s.D), (s.D,)


def linear_shapes(s, times):
    return (s.D, times * s.D), (times * s.D,)


def rotary(s, x, angles):
    xp = array_module(x)
    return ops.rotary(x, ops.Turn(xp.cos(angles), xp.sin(angles), pairs=s.H % 2 == 1))


def mlp_shapes(s):
    return s.tokens, (s.D, s.M), (s.M,), (s.M, s.D), (s.D,)


def labels(s, z):
    return array_module(z).arange(s.B) % s.C


def sources(s, x):
    xp = array_module(x)
    return (xp.arange(s.B)[:, None] + 2 * xp.arange(s.N)) % (s.N + 1) - 1  # the first is MASKED


def soft_targets(s, z):
    weights = array_module(z).arange(1.0, s.B * s.C + 1).reshape(s.B, s.C) % 4 + 0.5
    return weights / weights.sum(axis=1, keepdims=True)


def cross_entropy_backward(dy, cache):
    return ops.cross_entropy_backward(cache) * dy


# name: (forward of the sizes and the inputs, backward, shapes of the inputs)
OPERATIONS = {
    "patchify": (
        lambda s, x: ops.patchify(x, s.P),
        ops.patchify_backward,
        lambda s: [(s.B, s.P * s.rows, s.P * s.columns, s.C)],
    ),
    "linear": (
        lambda s, *a: ops.linear(*a),
        ops.linear_backward,
        lambda s: [s.tokens, (s.D, s.M), (s.M,)],
    ),
    "linear of one row an image": (
        lambda s, *a: ops.linear(*a),
        ops.linear_backward,
        lambda s: [(s.B, s.D), (s.D, s.C), (s.C,)],
    ),
    "class_token": (
        lambda s, *a: ops.class_token(*a),
        ops.class_token_backward,
        lambda s: [s.tokens, (s.D,)],
    ),
    "register_tokens": (
        lambda s, *a: ops.register_tokens(*a),
        ops.register_tokens_backward,
        lambda s: [s.tokens, (s.rows, s.D)],
    ),
    "layer_scale": (
        lambda s, *a: ops.layer_scale(*a),
        ops.layer_scale_backward,
        lambda s: [s.tokens, (s.D,)],
    ),
    "relative_bias": (
        lambda s, table: ops.relative_bias(table, (s.rows, s.columns), s.H % 2 == 1),
        ops.relative_bias_backward,
        lambda s: [((2 * s.rows - 1) * (2 * s.columns - 1) + 3 * (s.H % 2), s.H)],
    ),
    "rotary": (
        rotary,
        ops.rotary_backward,
        lambda s: [(s.B, s.H, s.N + 1, 2 * s.K), (s.H, s.N, s.K)],
    ),
    "attention_pool": (
        lambda s, *a: ops.attention_pool(*a, heads=s.H),
        ops.attention_pool_backward,
        lambda s: [s.tokens, (1, s.D), *linear_shapes(s, 1), *linear_shapes(s, 2), *linear_shapes(s, 1)],
    ),
    "gate": (
        lambda s, x: ops.gate(x),
        ops.gate_backward,
        lambda s: [(s.B, s.N, 2 * s.M)],
    ),
    "merge_squares": (
        lambda s, x: ops.merge_squares(x, (2 * s.rows, 2 * s.columns)),
        ops.merge_squares_backward,
        lambda s: [(s.B, s.H - 1 + 4 * s.rows * s.columns, s.D)],  # H - 1 tokens are no patches
    ),
    "position_embedding": (
        lambda s, *a: ops.position_embedding(*a),
        ops.position_embedding_backward,
        lambda s: [s.tokens, (s.N, s.D)],
    ),
    "positions_2d": (
        lambda s, *a: ops.positions_2d(*a),
        ops.positions_2d_backward,
        lambda s: [(s.rows, s.K), (s.columns, s.K)],
    ),
    "layer_norm": (  # at least four numbers a row: with fewer, differences meet the bend that eps makes
        lambda s, *a: ops.layer_norm(*a),
        ops.layer_norm_backward,
        lambda s: [(s.B, s.N, s.D + 3), (s.D + 3,), (s.D + 3,)],
    ),
    "softmax": (
        lambda s, x: ops.softmax(x),
        ops.softmax_backward,
        lambda s: [(s.B, s.H, s.N)],
    ),
    "attention": (
        lambda s, *a: ops.attention(*a, heads=s.H),
        ops.attention_backward,
        attention_shapes,
    ),
    "attend": (
        lambda s, *a: ops.attend(*a),
        ops.attend_backward,
        lambda s: [(s.B, s.H, s.rows, s.K), *[(s.B, s.H, s.N, s.K)] * 2],
    ),
    "relative_scores": (
        lambda s, *a: ops.relative_scores(*a),
        ops.relative_scores_backward,
        lambda s: [(s.B, s.H, s.rows, s.K), (2 * (s.rows + s.columns) - 1, s.K)],
    ),
    "gelu, tanh form": (
        lambda s, x: ops.gelu(x, "tanh"),
        ops.gelu_backward,
        lambda s: [s.tokens],
    ),
    "gelu, exact": (
        lambda s, x: ops.gelu(x, "exact"),
        ops.gelu_backward,
        lambda s: [s.tokens],
    ),
    "gelu, quick": (
        lambda s, x: ops.gelu(x, "quick"),
        ops.gelu_backward,
        lambda s: [s.tokens],
    ),
    "gelu, of no use where x is negative": (
        lambda s, x: ops.gelu(x, "relu"),
        ops.gelu_backward,
        lambda s: [s.tokens],
    ),
    "mlp": (
        lambda s, *a: ops.mlp(*a),
        ops.mlp_backward,
        mlp_shapes,
    ),
    "dropout": (
        lambda s, x: ops.dropout(x, 0.4, noise()),
        ops.dropout_backward,
        lambda s: [s.tokens],
    ),
    "drop_path": (
        lambda s, x: ops.drop_path(x, 0.4, noise()),
        ops.drop_path_backward,
        lambda s: [s.tokens],
    ),
    "token_pool": (
        lambda s, x: ops.token_pool(x),
        ops.token_pool_backward,
        lambda s: [s.tokens],
    ),
    "corrupt": (
        lambda s, x, mask: ops.corrupt(x, mask, sources(s, x)),
        ops.corrupt_backward,
        lambda s: [s.tokens, (s.D,)],
    ),
    "row_pool": (
        lambda s, x: ops.row_pool(x, sources(s, x)[:, :1] + 1),
        ops.row_pool_backward,
        lambda s: [(s.B, s.N + 1, s.D)],
    ),
    "squared_error": (
        lambda s, y: ops.squared_error(y, y * 0 + 0.5),
        lambda dy, cache: ops.squared_error_backward(cache) * dy,
        lambda s: [s.tokens],
    ),
    "mean_pool": (
        lambda s, x: ops.mean_pool(x),
        ops.mean_pool_backward,
        lambda s: [s.tokens],
    ),
    "tanh": (
        lambda s, x: ops.tanh(x),
        ops.tanh_backward,
        lambda s: [s.tokens],
    ),
    "windows": (
        lambda s, x: ops.windows(x, s.k, s.P),
        ops.windows_backward,
        lambda s: [s.images],
    ),
    "windows, not padded": (
        lambda s, x: ops.windows(x, s.P, s.k, "VALID"),
        ops.windows_backward,
        lambda s: [s.images],
    ),
    "convolution": (
        lambda s, *a: ops.convolution(*a, s.P),
        ops.convolution_backward,
        lambda s: [s.images, (s.k, s.k, s.C, s.M)],
    ),
    "convolution, not padded": (
        lambda s, *a: ops.convolution(*a, s.k, "VALID"),
        ops.convolution_backward,
        lambda s: [s.images, (s.P, s.P, s.C, s.M)],
    ),
    "weight_standardisation": (  # at least six weights: with fewer, differences meet the bend at s = 0
        lambda s, w: ops.weight_standardisation(w),
        ops.weight_standardisation_backward,
        lambda s: [(s.P, s.P, s.C + 4, s.M)],
    ),
    "weight_standardisation, in root": (
        lambda s, w: ops.weight_standardisation(w, 0.5, in_root=True),
        ops.weight_standardisation_backward,
        lambda s: [(s.P, s.P, s.C + 4, s.M)],
    ),
    "group_norm": (
        lambda s, *a: ops.group_norm(*a, groups=s.H),
        ops.group_norm_backward,
        lambda s: [(s.B, s.rows + 1, s.columns + 1, s.D), (s.D,), (s.D,)],
    ),
    "relu": (
        lambda s, x: ops.relu(x),
        ops.relu_backward,
        lambda s: [s.tokens],
    ),
    "max_pool": (
        lambda s, x: ops.max_pool(x, s.k, s.P),
        ops.max_pool_backward,
        lambda s: [s.images],
    ),
    "max_pool, not padded": (
        lambda s, x: ops.max_pool(x, s.P, s.k, "VALID"),
        ops.max_pool_backward,
        lambda s: [s.images],
    ),
    "cross_entropy, labels": (
        lambda s, z: ops.cross_entropy(z, labels(s, z)),
        cross_entropy_backward,
        lambda s: [(s.B, s.C)],
    ),
    "cross_entropy, soft targets, smoothed": (
        lambda s, z: ops.cross_entropy(z, soft_targets(s, z), 0.2),
        cross_entropy_backward,
        lambda s: [(s.B, s.C)],
    ),
}

# Operations with a bend, where the differences would be wrong: their inputs are all a quarter or more apart.
BENT = {"relu", "gelu, of no use where x is negative", "max_pool", "max_pool, not padded"}
