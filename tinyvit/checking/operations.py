"""One gradient check for every operation of tinyvit.ops, on small random arrays."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from tinyvit import ops
from tinyvit.backend import Array, array_module
from tinyvit.checking.finite_differences import check_gradients


@dataclass(frozen=True)
class OperationCheck:
    """A forward and backward pair, the names of its inputs, and their shapes."""

    name: str
    forward: Callable[..., tuple[Array, Any]]
    backward: Callable[[Array, Any], Array | Sequence[Array]]
    shapes: dict[str, tuple[int, ...]]

    def errors(self, seed: int, xp: ModuleType = np) -> dict[str, float]:
        """The error of each input's gradient; inputs are drawn around 1 for gains, otherwise around 0."""
        rng = np.random.default_rng(seed)
        inputs = []
        for name, shape in self.shapes.items():
            centre = 1.0 if name == "gain" else 0.0
            inputs.append(xp.asarray(rng.normal(centre, 1.0, shape)))
        return dict(zip(self.shapes, check_gradients(self.forward, self.backward, inputs, rng), strict=True))


def _noise() -> ops.Noise:
    return ops.Noise(seed=1, step=2)  # new for every call, so that every forward pass drops the same numbers


def _cross_entropy_case(
    name: str, targets: Callable[[Array], Array], smoothing: float = 0.0
) -> OperationCheck:
    def forward(logits: Array) -> tuple[Array, object]:
        return ops.cross_entropy(logits, targets(logits), smoothing)

    return OperationCheck(
        name, forward, lambda dy, cache: ops.cross_entropy_backward(cache) * dy, {"logits": (4, 5)}
    )


def _convolution_case(
    name: str, images: tuple[int, ...], kernel: tuple[int, ...], stride: int = 1, padding: str = "SAME"
) -> OperationCheck:
    def forward(x: Array, kernel: Array) -> tuple[Array, object]:
        return ops.convolution(x, kernel, stride, padding)

    return OperationCheck(name, forward, ops.convolution_backward, {"x": images, "kernel": kernel})


def _rotary(x: Array, angles: Array, pairs: bool = False) -> tuple[Array, object]:
    xp = array_module(x)
    return ops.rotary(x, ops.Turn(xp.cos(angles), xp.sin(angles), pairs))


def _rotary_backward(dy: Array, cache: Any) -> tuple[Array, Array]:
    return ops.rotary_backward(dy, cache)


def _labels(logits: Array) -> Array:
    return array_module(logits).arange(len(logits)) % 3  # integers, on the device of the logits


def _soft_targets(logits: Array) -> Array:
    row = array_module(logits).linspace(0, 0.4, logits.shape[1])  # sums to 1 over the five classes
    return logits * 0 + row


def _source(x: Array) -> Array:
    """What the five patches of two images show: one is masked, and one is shown twice."""
    return array_module(x).asarray([[0, -1, 2, 2, 4], [3, 1, -1, 3, -1]])


def _rows(x: Array) -> Array:
    return array_module(x).asarray([[4, 1, 2], [0, 3, 1]])


_TOKENS = (2, 5, 6)
_ATTENTION = {
    "x": _TOKENS,
    "qkv_weight": (6, 18),
    "qkv_bias": (18,),
    "out_weight": (6, 6),
    "out_bias": (6,),
}
_POOL = {"x": _TOKENS, "probe": (1, 6), "q_weight": (6, 6), "q_bias": (6,)}
_POOL |= {"kv_weight": (6, 12), "kv_bias": (12,), "out_weight": (6, 6), "out_bias": (6,)}
_HEADS = {"q": (2, 2, 3, 4), "k": (2, 2, 5, 4), "v": (2, 2, 5, 4)}
_MLP = {"x": _TOKENS, "weight1": (6, 9), "bias1": (9,), "weight2": (9, 6), "bias2": (6,)}

OPERATION_CHECKS = (
    OperationCheck("patchify", lambda x: ops.patchify(x, 2), ops.patchify_backward, {"images": (2, 4, 6, 3)}),
    OperationCheck(
        "linear",
        ops.linear,
        ops.linear_backward,
        {"x": _TOKENS, "weight": (6, 4), "bias": (4,)},
    ),
    OperationCheck(
        "corrupted patches",
        lambda x, mask: ops.corrupt(x, mask, _source(x)),
        ops.corrupt_backward,
        {"x": _TOKENS, "mask": (6,)},
    ),
    OperationCheck("class token", ops.class_token, ops.class_token_backward, {"x": _TOKENS, "token": (6,)}),
    OperationCheck(
        "register tokens",
        ops.register_tokens,
        ops.register_tokens_backward,
        {"x": _TOKENS, "registers": (2, 6)},
    ),
    OperationCheck(
        "position embedding",
        ops.position_embedding,
        ops.position_embedding_backward,
        {"x": _TOKENS, "embedding": (5, 6)},
    ),
    OperationCheck(
        "2-D positions", ops.positions_2d, ops.positions_2d_backward, {"rows": (3, 4), "columns": (2, 4)}
    ),
    OperationCheck(
        "layer norm", ops.layer_norm, ops.layer_norm_backward, {"x": _TOKENS, "gain": (6,), "bias": (6,)}
    ),
    OperationCheck("layer scale", ops.layer_scale, ops.layer_scale_backward, {"x": _TOKENS, "gain": (6,)}),
    OperationCheck("rotary", _rotary, _rotary_backward, {"x": (2, 2, 5, 4), "angles": (2, 3, 2)}),
    OperationCheck(
        "rotary, pairs",
        lambda *a: _rotary(*a, pairs=True),
        _rotary_backward,
        {"x": (2, 2, 5, 4), "angles": (2, 3, 2)},
    ),
    OperationCheck(
        "relative bias",
        lambda table: ops.relative_bias(table, (2, 3), True),
        ops.relative_bias_backward,
        {"table": (18, 2)},
    ),
    OperationCheck("softmax", ops.softmax, ops.softmax_backward, {"x": (3, 4, 5)}),
    OperationCheck("attention", lambda *a: ops.attention(*a, heads=2), ops.attention_backward, _ATTENTION),
    OperationCheck("attention of three queries among five tokens", ops.attend, ops.attend_backward, _HEADS),
    OperationCheck(
        "relative scores",
        ops.relative_scores,
        ops.relative_scores_backward,
        {"q": (2, 2, 4, 3), "table": (7, 3)},
    ),
    OperationCheck(
        "relative scores, 2 queries of 4",
        ops.relative_scores,
        ops.relative_scores_backward,
        {"q": (2, 2, 2, 3), "table": (7, 3)},
    ),
    OperationCheck("gelu, tanh form", lambda x: ops.gelu(x, "tanh"), ops.gelu_backward, {"x": (4, 25)}),
    OperationCheck("gelu, exact", lambda x: ops.gelu(x, "exact"), ops.gelu_backward, {"x": (4, 25)}),
    OperationCheck("gelu, quick", lambda x: ops.gelu(x, "quick"), ops.gelu_backward, {"x": (4, 25)}),
    OperationCheck("silu", lambda x: ops.gelu(x, "silu"), ops.gelu_backward, {"x": (4, 25)}),
    OperationCheck("mlp", ops.mlp, ops.mlp_backward, _MLP),
    OperationCheck("gate", ops.gate, ops.gate_backward, {"x": (2, 5, 6)}),
    OperationCheck("dropout", lambda x: ops.dropout(x, 0.4, _noise()), ops.dropout_backward, {"x": _TOKENS}),
    OperationCheck(
        "stochastic depth",
        lambda x: ops.drop_path(x, 0.4, _noise()),
        ops.drop_path_backward,
        {"x": (8, 2, 3)},
    ),
    OperationCheck(
        "windows, stride 2", lambda x: ops.windows(x, 3, 2), ops.windows_backward, {"images": (2, 4, 5, 3)}
    ),
    _convolution_case("convolution, 3 x 3", (2, 5, 4, 3), (3, 3, 3, 2)),
    _convolution_case("convolution, 7 x 7, stride 2", (1, 6, 5, 2), (7, 7, 2, 3), stride=2),
    _convolution_case("convolution, 1 x 1, stride 2", (2, 4, 5, 3), (1, 1, 3, 4), stride=2),
    _convolution_case("convolution, not padded", (2, 5, 6, 2), (3, 3, 2, 3), stride=2, padding="VALID"),
    OperationCheck(
        "weight standardisation",
        ops.weight_standardisation,
        ops.weight_standardisation_backward,
        {"kernel": (3, 3, 2, 4)},
    ),
    OperationCheck(
        "weight standardisation, as in timm",
        lambda w: ops.weight_standardisation(w, 0.1, in_root=True),
        ops.weight_standardisation_backward,
        {"kernel": (3, 3, 2, 4)},
    ),
    OperationCheck(
        "group norm",
        lambda *a: ops.group_norm(*a, groups=2),
        ops.group_norm_backward,
        {"x": (2, 3, 4, 6), "gain": (6,), "bias": (6,)},
    ),
    OperationCheck("relu", ops.relu, ops.relu_backward, {"x": (4, 25)}),
    OperationCheck("max-pool", ops.max_pool, ops.max_pool_backward, {"x": (2, 6, 5, 3)}),
    OperationCheck(
        "max-pool, not padded",
        lambda x: ops.max_pool(x, padding="VALID"),
        ops.max_pool_backward,
        {"x": (2, 6, 5, 3)},
    ),
    OperationCheck(
        "attention pooling",
        lambda *a: ops.attention_pool(*a, heads=2),
        ops.attention_pool_backward,
        _POOL,
    ),
    OperationCheck("class token pooling", ops.token_pool, ops.token_pool_backward, {"x": _TOKENS}),
    OperationCheck("chosen rows", lambda x: ops.row_pool(x, _rows(x)), ops.row_pool_backward, {"x": _TOKENS}),
    OperationCheck("mean pooling", ops.mean_pool, ops.mean_pool_backward, {"x": _TOKENS}),
    OperationCheck("tanh", ops.tanh, ops.tanh_backward, {"x": (4, 5)}),
    _cross_entropy_case("cross-entropy, labels", _labels),
    _cross_entropy_case("cross-entropy, smoothed", _labels, 0.1),
    _cross_entropy_case("cross-entropy, soft targets", _soft_targets),
    OperationCheck(
        "squared error",
        lambda y: ops.squared_error(y, y * 0 + 0.5),
        lambda dy, cache: ops.squared_error_backward(cache) * dy,
        {"y": (4, 5)},
    ),
)
