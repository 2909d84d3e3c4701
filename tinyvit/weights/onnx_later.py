"""What later ViTs than the paper's have, as nodes of an ONNX graph: see model.later and model.pool."""

import math

import numpy as np

from tinyvit.model import Params, ViTConfig
from tinyvit.model.later.rotary import turn_of
from tinyvit.ops import Turn
from tinyvit.weights.onnx_graph import Graph


def turned(config: ViTConfig, params: Params, g: Graph, i: int, x: str) -> str:
    """Queries or keys x (B, H, N, K) of block number i, turned by their positions, if the model does that.

    With C and S the cosines and sines of every token and number, and R the matrix that takes (x1, x2) to
    (-x2, x1), y = x C + (x R) S.
    """
    turn = turn_of(config, params, i)
    if turn is None:
        return x
    name = f"blocks.{i}.turn" if config.rotary and config.rotary.learned else "turn"
    cos, sin = (_of_all(config, turn, table, rest) for table, rest in ((turn.cos, 1), (turn.sin, 0)))
    C, S = g.constant(f"{name}.cos", cos), g.constant(f"{name}.sin", sin)
    quarter = g.node("MatMul", x, g.constant("quarter_turn", _quarter_turn(config.head_width, turn)))
    return g.node("Add", g.node("Mul", x, C), g.node("Mul", quarter, S))


def _of_all(config: ViTConfig, turn: Turn, table: np.ndarray, rest: float) -> np.ndarray:
    """A table (.., T, K/2) for every number of every token, (.., N, K): the rest where nothing is turned."""
    full = np.full((*table.shape[:-2], config.tokens, config.head_width), rest, "float32")
    for half in turn.points(full[..., -turn.tokens :, :]):
        half[...] = table
    return full


def _quarter_turn(K: int, turn: Turn) -> np.ndarray:
    """R (K, K): x R is (-x2, x1) where x is (x1, x2)."""
    one, two = turn.points(np.arange(K))
    R = np.zeros((K, K), "float32")
    R[two, one], R[one, two] = -1, 1
    return R


def gated(g: Graph, h: str, gelu: str, width: int) -> str:
    """The product of half of h (B, N, 2M), through the nonlinearity, and of the other half."""
    a, u = (g.node("Slice", h, [start], [start + width], [2]) for start in (0, width))
    return g.node("Mul", activation(g, a, gelu), u)


def activation(g: Graph, x: str, form: str) -> str:
    """x times the gate of one of ops.GELU_FORMS."""
    if form == "relu":
        return g.node("Relu", x)
    if form == "exact":
        erf = g.node("Erf", g.node("Mul", x, math.sqrt(0.5)))
        return g.node("Mul", x, g.node("Mul", g.node("Add", erf, 1.0), 0.5))
    if form == "tanh":
        cubic = g.node("Mul", g.node("Mul", g.node("Mul", x, x), x), 0.044715)
        u = g.node("Mul", g.node("Add", x, cubic), math.sqrt(8 / math.pi))
    else:
        u = g.node("Mul", x, 1.702) if form == "quick" else x
    return g.node("Mul", x, g.node("Sigmoid", u))


def probed(config: ViTConfig, params: Params, g: Graph, x: str, N: int) -> str:
    """Attention pooling of N tokens x (B, N, D): (B, D). The query is the same for all images."""
    D, H = config.width, config.pool_heads or config.heads
    K = D // H
    probe, q_weight, q_bias, kv_weight, kv_bias, out_weight, out_bias = params.group("pool.attn")
    q = (probe @ q_weight + q_bias).reshape(H, 1, K) / math.sqrt(K)
    kv = g.node("MatMul", x, g.constant("pool.kv.weight", kv_weight))
    kv = g.node("Reshape", g.node("Add", kv, g.constant("pool.kv.bias", kv_bias)), [0, N, 2, H, K])
    kv = g.node("Transpose", kv, perm=[2, 0, 3, 1, 4])
    k, v = (g.node("Gather", kv, which, axis=0) for which in range(2))  # (B, H, N, K)
    query = g.constant("pool.query", q.astype("float32"))
    S = g.node("MatMul", query, g.node("Transpose", k, perm=[0, 1, 3, 2]))  # (B, H, 1, N)
    o = g.node("Reshape", g.node("MatMul", g.node("Softmax", S, axis=-1), v), [0, D])
    o = g.node("MatMul", o, g.constant("pool.out.weight", out_weight))
    return g.node("Add", o, g.constant("pool.out.bias", out_bias))
