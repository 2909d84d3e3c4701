"""One gradient check for every operation of tinyvit.ops, on small random arrays."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from tinyvit import ops
from tinyvit.backend import Array, array_module
from tinyvit.gradcheck.finite_differences import check_gradients


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


def _pair(name: str, forward: Callable, shapes: dict[str, tuple[int, ...]], **options: Any) -> OperationCheck:
    """The check of an operation with these options, whose backward has its name."""
    backward = getattr(ops, f"{forward.__name__}_backward")
    return OperationCheck(name, partial(forward, **options), backward, shapes)


def _rotary(x: Array, angles: Array, pairs: bool = False) -> tuple[Array, object]:
    xp = array_module(x)
    return ops.rotary(x, ops.Turn(xp.cos(angles), xp.sin(angles), pairs))


def _labels(logits: Array) -> Array:
    return array_module(logits).arange(len(logits)) % 3  # integers, on the device of the logits


def _soft_targets(logits: Array) -> Array:
    row = array_module(logits).linspace(0, 0.4, logits.shape[1])  # sums to 1 over the five classes
    return logits * 0 + row


def _source(x: Array) -> Array:
    """The contents of the five patches of two images: one is masked, and one is shown twice."""
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
_TURNED = {"x": (2, 2, 5, 4), "angles": (2, 3, 2)}
_HEADS = {"q": (2, 2, 3, 4), "k": (2, 2, 5, 4), "v": (2, 2, 5, 4)}
_MLP = {"x": _TOKENS, "weight1": (6, 9), "bias1": (9,), "weight2": (9, 6), "bias2": (6,)}

OPERATION_CHECKS = (
    _pair("patchify", ops.patchify, {"images": (2, 4, 6, 3)}, patch=2),
    _pair("linear", ops.linear, {"x": _TOKENS, "weight": (6, 4), "bias": (4,)}),
    OperationCheck(
        "corrupted patches",
        lambda x, mask: ops.corrupt(x, mask, _source(x)),
        ops.corrupt_backward,
        {"x": _TOKENS, "mask": (6,)},
    ),
    _pair("class token", ops.class_token, {"x": _TOKENS, "token": (6,)}),
    _pair("register tokens", ops.register_tokens, {"x": _TOKENS, "registers": (2, 6)}),
    _pair("position embedding", ops.position_embedding, {"x": _TOKENS, "embedding": (5, 6)}),
    _pair("2-D positions", ops.positions_2d, {"rows": (3, 4), "columns": (2, 4)}),
    _pair("layer norm", ops.layer_norm, {"x": _TOKENS, "gain": (6,), "bias": (6,)}),
    _pair("layer scale", ops.layer_scale, {"x": _TOKENS, "gain": (6,)}),
    OperationCheck("rotary", _rotary, ops.rotary_backward, _TURNED),
    OperationCheck("rotary, pairs", partial(_rotary, pairs=True), ops.rotary_backward, _TURNED),
    _pair("relative bias", ops.relative_bias, {"table": (18, 2)}, grid=(2, 3), has_token=True),
    _pair("softmax", ops.softmax, {"x": (3, 4, 5)}),
    _pair("attention", ops.attention, _ATTENTION, heads=2),
    _pair("attention of three queries among five tokens", ops.attend, _HEADS),
    _pair("relative scores", ops.relative_scores, {"q": (2, 2, 4, 3), "table": (7, 3)}),
    _pair("relative scores, 2 queries of 4", ops.relative_scores, {"q": (2, 2, 2, 3), "table": (7, 3)}),
    _pair("gelu, tanh form", ops.gelu, {"x": (4, 25)}, form="tanh"),
    _pair("gelu, exact", ops.gelu, {"x": (4, 25)}, form="exact"),
    _pair("gelu, quick", ops.gelu, {"x": (4, 25)}, form="quick"),
    _pair("silu", ops.gelu, {"x": (4, 25)}, form="silu"),
    _pair("mlp", ops.mlp, _MLP),
    _pair("gate", ops.gate, {"x": (2, 5, 6)}),
    OperationCheck("dropout", lambda x: ops.dropout(x, 0.4, _noise()), ops.dropout_backward, {"x": _TOKENS}),
    OperationCheck(
        "stochastic depth",
        lambda x: ops.drop_path(x, 0.4, _noise()),
        ops.drop_path_backward,
        {"x": (8, 2, 3)},
    ),
    _pair("windows, stride 2", ops.windows, {"images": (2, 4, 5, 3)}, size=3, stride=2),
    _pair("convolution, 3 x 3", ops.convolution, {"x": (2, 5, 4, 3), "kernel": (3, 3, 3, 2)}),
    _pair(
        "convolution, 7 x 7, stride 2",
        ops.convolution,
        {"x": (1, 6, 5, 2), "kernel": (7, 7, 2, 3)},
        stride=2,
    ),
    _pair(
        "convolution, 1 x 1, stride 2",
        ops.convolution,
        {"x": (2, 4, 5, 3), "kernel": (1, 1, 3, 4)},
        stride=2,
    ),
    _pair(
        "convolution, not padded",
        ops.convolution,
        {"x": (2, 5, 6, 2), "kernel": (3, 3, 2, 3)},
        stride=2,
        padding="VALID",
    ),
    _pair("weight standardisation", ops.weight_standardisation, {"kernel": (3, 3, 2, 4)}),
    _pair(
        "weight standardisation, as in timm",
        ops.weight_standardisation,
        {"kernel": (3, 3, 2, 4)},
        eps=0.1,
        in_root=True,
    ),
    _pair("group norm", ops.group_norm, {"x": (2, 3, 4, 6), "gain": (6,), "bias": (6,)}, groups=2),
    _pair("relu", ops.relu, {"x": (4, 25)}),
    _pair("max-pool", ops.max_pool, {"x": (2, 6, 5, 3)}),
    _pair("max-pool, not padded", ops.max_pool, {"x": (2, 6, 5, 3)}, padding="VALID"),
    _pair("attention pooling", ops.attention_pool, _POOL, heads=2),
    _pair("class token pooling", ops.token_pool, {"x": _TOKENS}),
    OperationCheck("chosen rows", lambda x: ops.row_pool(x, _rows(x)), ops.row_pool_backward, {"x": _TOKENS}),
    _pair("mean pooling", ops.mean_pool, {"x": _TOKENS}),
    _pair("squares of patches", ops.merge_squares, {"x": (2, 9, 3)}, grid=(2, 4)),
    _pair("tanh", ops.tanh, {"x": (4, 5)}),
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
