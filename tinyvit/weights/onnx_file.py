"""Writing a model as an .onnx file, which other programs run: the forward pass, once more, as an ONNX graph.

Input `images` is uint8 (batch, H, W, channels), pixels as they come from an image file. The normalisation is
a part of the graph, since a program that gets it wrong would not notice. Outputs are float32 `logits` and
`probabilities` (batch, classes), the latter summing to 1. batch may be any number. The file's metadata hold
the names of the classes and how a photo becomes an image.

Each function below adds the nodes of the function of the same name in tinyvit.model or tinyvit.ops, given the
names of the values that it reads; x is always such a name, and g the graph. Convolutions of ONNX read
(B, C, H, W).
"""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from tinyvit.backend import to_numpy
from tinyvit.data.photos import PhotoFit, fit_for
from tinyvit.model import Params, ViTConfig
from tinyvit.model.later import fields_known_to
from tinyvit.model.later.biases import attention_weights, with_bias
from tinyvit.model.later.positions import part_of, position_table
from tinyvit.model.later.rotary import turn_of
from tinyvit.ops import Turn, relative_bias
from tinyvit.support.errors import UserError
from tinyvit.support.files.atomic import write_atomically
from tinyvit.weights.onnx_graph import FLOAT, Graph, kernel, resnet

LARGEST = 2_000_000_000  # bytes of parameters: a message of Protocol Buffers has less than 2 GiB
_MEANING = """\
A Vision Transformer, hybrid or ResNet of tinyvit. Give it RGB pixels from 0 to 255 as uint8 (batch, height, \
width, channels); it normalises them itself. Metadata: `classes`, a JSON list of their names in the order of \
the logits, and `photos`, how a photo of any size becomes an image: it is scaled to cover (crop), fit into \
(pad, on the colour border) or fill (squash) the frame (height, width), whose centre, of that size, is cut \
out, both at whole pixels, with the rounding of that library (tinyvit's is that of transformers)."""


def save_onnx(
    path: Path, config: ViTConfig, params: Params, classes: Sequence[str], fit: PhotoFit | None = None
) -> None:
    """Write a model that classifies images as an .onnx file.

    fit is how photos become images for the model; without it, they are scaled to cover the image, and the
    centre is cut out. Raises UserError if the model is too large for the format, if the file
    cannot be written, or if the package onnx is not installed.
    """
    if others := config.later_parts.keys() - fields_known_to("onnx"):
        raise UserError(f"an .onnx file has no nodes for {', '.join(sorted(others))}: choose another format.")
    if 4 * params.count > LARGEST:
        raise UserError(
            f"the model has {params.count:,} parameters, and an .onnx file holds {LARGEST // 4:,} at most: "
            "choose another format."
        )
    H, W = config.image_size
    fit = fit_for((H, W), fit)
    metadata = {"classes": json.dumps(list(classes)), "photos": json.dumps(asdict(fit))}
    g = Graph(config, Params(to_numpy(params.flat).astype("float32", copy=False), params.rows))
    forward(g, "images")
    images = g.port("images", "uint8", ("batch", H, W, config.channels), "RGB pixels from 0 to 255")
    meanings = {"logits": "unnormalised scores of the classes", "probabilities": "softmax of the logits"}
    if config.predicts == "embedding":
        meanings = {"logits": "the embedding of the image"}
    shape = ("batch", config.classes)
    outputs = [g.port(name, "float32", shape, meaning) for name, meaning in meanings.items()]
    content = g.file([images], outputs, _MEANING, metadata)
    write_atomically(path, lambda file: file.write(content))


def forward(g: Graph, x: str) -> None:
    """From the bytes of images (B, H, W, channels) to `logits` and `probabilities` (B, C)."""
    x = normalise(g, x)
    x = stem(g, x)  # (B, N, D)               ViT eq. 1
    for i in range(g.config.layers):
        x = block(g, i, x)  #                 ViT eq. 2, 3
    x = readout(g, x)  # (B, C)               ViT eq. 4
    if g.config.predicts != "embedding":
        g.node("Softmax", x, axis=-1, called="probabilities")


def normalise(g: Graph, x: str) -> str:
    """Bytes (B, H, W, channels) to pixels from -1 to 1, (B, channels, H, W)."""
    x = g.node("Cast", x, to=FLOAT)
    x = g.node("Div", g.node("Sub", x, 127.5), 127.5)
    return g.node("Transpose", x, perm=[0, 3, 1, 2])


def stem(g: Graph, x: str) -> str:
    """Tokens (B, N, D). A patch times the patch matrix is a convolution whose stride is the patch size."""
    P, D = g.config.patch_size, g.config.width
    if g.config.has_resnet:
        x = resnet(g, x)
    if g.config.has_transformer:
        weight = kernel(g, "patch.weight", g.params["patch.weight"].reshape(P, P, -1, D))
        bias = g.constant("patch.bias", with_bias(g.params, "patch")[1])
        x = g.node("Conv", x, weight, bias, strides=[P, P])  # (B, D, gh, gw)
    x = g.node("Reshape", x, [0, D, g.config.patches])
    x = g.node("Transpose", x, perm=[0, 2, 1])  # (B, T, D)
    if g.config.prefix:
        x = other_tokens(g, x)  # (B, N, D)
    if g.config.has_transformer:
        x = add_positions(g, x)
    return layer_norm(g, "pre_norm", x) if g.config.pre_norm else x


def other_tokens(g: Graph, x: str) -> str:
    """Rows of zeros are put before the patches, to which the class token and others are then added."""
    names = [name for name in ("class_token", "distillation_token", "registers") if name in g.params]
    rows = [g.constant(name, g.params[name].reshape(1, -1, g.config.width)) for name in names]
    tokens = g.node("Pad", g.node("Concat", *rows, axis=1), [0, 0, 0, 0, g.config.patches, 0])  # (1, N, D)
    x = g.node("Pad", x, [0, g.config.prefix, 0, 0, 0, 0])  # before and after (B, T, D)
    return g.node("Add", x, tokens)


def add_positions(g: Graph, x: str, i: int | None = None) -> str:
    """Add what belongs before block number i, or at the stem if i is None."""
    table = position_table(g.config, g.params, i)
    if table is None:
        return x
    name = "position" if g.config.position == "sincos" else part_of(g.config, i)
    return g.node("Add", x, g.constant(name, table))


def block(g: Graph, i: int, x: str) -> str:
    """Block number i. If only R tokens are needed after it, y is (B, R, D)."""
    p, rows = f"blocks.{i}", g.config.tokens_needed_after(i)
    x = add_positions(g, x, i)
    if i and i == g.config.merge_after:
        x = merge_squares(g, x)
    a = layer_norm(g, f"{p}.norm1", x)
    a = scaled(g, f"{p}.scale1", attention(g, i, a, rows))
    if rows:
        x = g.node("Slice", x, [0], [rows], [1])
    x = g.node("Add", x, a)
    m = layer_norm(g, f"{p}.norm2", x)
    m = scaled(g, f"{p}.scale2", mlp(g, p, m))
    return g.node("Add", x, m)


def merge_squares(g: Graph, x: str) -> str:
    """The mean of each square of 2 x 2 patches, after the tokens before them."""
    (gh, gw), first = g.config.grid, g.config.prefix
    squares = g.node("Slice", x, [first], [g.config.tokens], [1]) if first else x
    squares = g.node("Reshape", squares, [0, gh // 2, 2, gw // 2, 2, g.config.width])
    means = g.node("ReduceMean", squares, axes=[2, 4], keepdims=0)
    means = g.node("Reshape", means, [0, gh * gw // 4, g.config.width])
    return g.node("Concat", g.node("Slice", x, [0], [first], [1]), means, axis=1) if first else means


def scaled(g: Graph, name: str, x: str) -> str:
    """LayerScale of x (B, N, D), in a model that has it."""
    return g.node("Mul", x, g.constant(name, g.params[name])) if g.config.layer_scale else x


def attention(g: Graph, i: int, x: str, rows: int | None) -> str:
    """Of the first `rows` tokens, or of all, to all N tokens x (B, N, D)."""
    N, H, D = g.config.tokens_of(i), g.config.heads, g.config.width
    K = D // H
    p = f"blocks.{i}"
    weight, bias, *_ = attention_weights(g.config, g.params, p)
    qkv = g.node("MatMul", x, g.constant(f"{p}.attn.qkv.weight", weight))
    qkv = g.node("Add", qkv, g.constant(f"{p}.attn.qkv.bias", bias))
    qkv = g.node("Transpose", g.node("Reshape", qkv, [0, N, 3, H, K]), perm=[2, 0, 3, 1, 4])
    q, k, v = (g.node("Gather", qkv, which, axis=0) for which in range(3))  # (B, H, N, K)
    if g.config.qk_norm:
        q, k = layer_norm(g, f"{p}.q_norm", q), layer_norm(g, f"{p}.k_norm", k)
    q, k = turned(g, i, q), turned(g, i, k)
    if rows:
        q = g.node("Slice", q, [0], [rows], [2])
    q = g.node("Mul", q, 1 / math.sqrt(K))
    S = g.node("MatMul", q, g.node("Transpose", k, perm=[0, 1, 3, 2]))  # (B, H, Q, N)
    table = part_of(g.config, i)
    if g.config.position == "relative":
        S = g.node("Add", S, relative_scores(g, table, q, rows or N))
    if g.config.position == "bias":
        scores, _ = relative_bias(g.params[table], g.config.grid, g.config.has_token)
        S = g.node("Add", S, g.constant(f"{table}.{rows or N}", scores[:, : rows or N]))
    o = g.node("MatMul", g.node("Softmax", S, axis=-1), v)  # (B, H, Q, K)
    o = g.node("Reshape", g.node("Transpose", o, perm=[0, 2, 1, 3]), [0, rows or N, D])
    if g.config.attention_norm:
        o = layer_norm(g, f"{p}.attention_norm", o)
    return linear(g, f"{p}.attn.out", o)


def relative_scores(g: Graph, table: str, q: str, Q: int) -> str:
    """Scores (B, H, Q, N) of Q queries, whose rows are shifted as in ops.relative_scores."""
    N, H, W = g.config.tokens, g.config.heads, g.config.tokens + Q - 1
    used = np.pad(g.params[table][N - Q :], ((0, 1), (0, 0)))  # (W + 1, K), a row of zeros last
    G = g.node("MatMul", q, g.constant(f"{table}.{Q}", used.T))  # (B, H, Q, W + 1)
    memory = g.node("Slice", g.node("Reshape", G, [0, H, Q * (W + 1)]), [Q - 1], [Q - 1 + Q * W], [2])
    return g.node("Slice", g.node("Reshape", memory, [0, H, Q, W]), [0], [N], [3])


def mlp(g: Graph, p: str, x: str) -> str:
    """Widen, GELU, narrow; or the same with a gate."""
    h = linear(g, f"{p}.mlp.fc1", x)
    if g.config.gated:  # the product of one half of (B, N, 2M), through the nonlinearity, and of the other
        M = g.config.mlp_width
        h, u = (g.node("Slice", h, [start], [start + M], [2]) for start in (0, M))
        h = g.node("Mul", activation(g, h, g.config.gelu), u)
    else:
        h = activation(g, h, g.config.gelu)
    if g.config.mlp_norm:
        h = layer_norm(g, f"{p}.mlp_norm", h)
    return linear(g, f"{p}.mlp.fc2", h)


def readout(g: Graph, x: str) -> str:
    """From the tokens of the last block to `logits`."""
    if g.config.has_transformer and g.config.final_norm == "tokens":
        x = layer_norm(g, "norm", x)
    x = pool(g, x)  # (B, D)
    if g.config.final_norm == "pooled":
        x = layer_norm(g, "norm", x)
    if g.config.pre_logits:
        x = g.node("Tanh", linear(g, "pre_logits", x))
    if g.config.pool == "distilled":
        heads = [linear(g, head, g.node("Gather", x, j, axis=1)) for j, head in enumerate(("head", "head2"))]
        return g.node("Mul", g.node("Add", *heads), 0.5, called="logits")
    return linear(g, "head", x, called="logits")


def pool(g: Graph, x: str) -> str:
    """The input of the head, from tokens x (B, N, D): see model.later.pools."""
    if g.config.pool == "token":
        return g.node("Gather", x, 0, axis=1)
    if g.config.pool == "distilled":
        return g.node("Slice", x, [0], [2], [1])
    N, first = g.config.tokens_of(g.config.layers - 1), 0 if g.config.pool_all else g.config.prefix
    patches = g.node("Slice", x, [first], [N], [1]) if first else x
    if g.config.pool == "attention":
        o = probed(g, patches, N - first)
        n = layer_norm(g, "pool.norm", o)
        h = activation(g, linear(g, "pool.mlp.fc1", n), g.config.gelu)
        return g.node("Add", o, linear(g, "pool.mlp.fc2", h))
    mean = g.node("ReduceMean", patches, axes=[1], keepdims=0)
    if g.config.pool == "both":
        return g.node("Concat", g.node("Gather", x, 0, axis=1), mean, axis=1)
    return mean


def layer_norm(g: Graph, part: str, x: str) -> str:
    """Normalise the last axis."""
    return g.node("LayerNormalization", x, *g.weight_and_bias(part), axis=-1, epsilon=g.config.eps)


def linear(g: Graph, part: str, x: str, called: str = "") -> str:
    """x times the matrix of a part, plus its bias."""
    weight, bias = with_bias(g.params, part)
    product = g.node("MatMul", x, g.constant(f"{part}.weight", weight))
    return g.node("Add", product, g.constant(f"{part}.bias", bias), called=called)


def turned(g: Graph, i: int, x: str) -> str:
    """Queries or keys x (B, H, N, K) of block number i, turned by their positions, if the model does that.

    With C and S the cosines and sines of every token and number, and R the matrix that takes (x1, x2) to
    (-x2, x1), y = x C + (x R) S.
    """
    turn = turn_of(g.config, g.params, i)
    if turn is None:
        return x
    name = f"blocks.{i}.turn" if g.config.rotary and g.config.rotary.learned else "turn"
    cos, sin = (_of_all(g.config, turn, table, rest) for table, rest in ((turn.cos, 1), (turn.sin, 0)))
    C, S = g.constant(f"{name}.cos", cos), g.constant(f"{name}.sin", sin)
    quarter = g.node("MatMul", x, g.constant("quarter_turn", _quarter_turn(g.config.head_width, turn)))
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


def probed(g: Graph, x: str, N: int) -> str:
    """Attention pooling of N tokens x (B, N, D): (B, D). The query is the same for all images."""
    D, H = g.config.width, g.config.pool_heads or g.config.heads
    K = D // H
    probe, q_weight, q_bias, kv_weight, kv_bias, out_weight, out_bias = g.params.group("pool.attn")
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
