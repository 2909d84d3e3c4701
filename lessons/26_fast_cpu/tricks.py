"""Each trick of the CPU engine beside the plain way to the same result, timed on one micro-batch.

    python -m lessons.26_fast_cpu.tricks --model Ti/4

Both ways are given the same inputs, and compute forward and backward where there is a backward. What folding
itself costs, once a step, is not part of them, but timed apart.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tinyvit import ops
from tinyvit.backend import Array
from tinyvit.bench.timing import Case
from tinyvit.engine import CpuEngine
from tinyvit.engine.blas import one_blas_thread
from tinyvit.engine.cpu.attention import attend, attend_backward, last_attention, last_attention_backward
from tinyvit.engine.cpu.blocks import Blocks, add_normalise_backward, normalise
from tinyvit.engine.cpu.folding import fold, unfold_gradients
from tinyvit.engine.cpu.gelu import gelu_and_slope, gelu_backward
from tinyvit.engine.cpu.products import add_product, product_plus_bias
from tinyvit.model import Params, ViTConfig, initialise
from tinyvit.model.block import block, block_backward
from tinyvit.ops.attention import join_heads, split_heads
from tinyvit.ops.linear import column_sums
from tinyvit.support.errors import UserError
from tinyvit.support.shell.command import pixel_count, positive_int, run_command

Results = tuple[Array, ...]


@dataclass(frozen=True)
class Trick:
    """Two ways to the same results. Each is given its own copies of the inputs, and may overwrite them.

    as_plain turns the engine's results, which may be folded, into those of the plain way.
    """

    name: str
    inputs: Results
    plain: Callable[..., Results]
    engine: Callable[..., Results]
    as_plain: Callable[..., Results] = lambda *results: results

    @property
    def shapes(self) -> str:
        """The different shapes of the inputs, vectors left out."""
        shapes = dict.fromkeys(each.shape for each in self.inputs if each.ndim > 1)
        return ", ".join("x".join(map(str, shape)) for shape in shapes)


@dataclass(frozen=True)
class Arrays:
    """A model of two blocks with random parameters, and random arrays for a micro-batch."""

    config: ViTConfig
    params: Params
    images: int
    rng: np.random.Generator

    @property
    def rows(self) -> int:
        return self.images * self.config.tokens

    def normal(self, *shape: int) -> Array:
        """Random numbers around 0."""
        return self.rng.standard_normal(shape, dtype=np.float32)


def tricks(config: ViTConfig) -> tuple[list[Trick], int]:
    """All tricks on the shapes of a model, and how many images are in a micro-batch.

    Raises UserError for a model that the engine computes without them.
    """
    if Blocks.unsupported_fields(config):
        raise UserError(
            "the CPU engine computes this model with the plain operations: expected one with Transformer "
            "blocks, such as Ti/4."
        )
    config = replace(config, layers=2)  # the first of two, since the last may compute the class token only
    rng = np.random.default_rng(0)
    params = initialise(config)
    params.flat += rng.normal(0, 0.05, params.count).astype("float32")  # no gain is 1, no bias 0
    arrays = Arrays(config, params, CpuEngine(config, params, threads=1).micro_batch, rng)
    makers = [_gelu, _layer_norm, _attention, _weight_gradient, _residual_sum, _bias, _block]
    if config.tokens_needed_after(config.layers - 1):
        makers.insert(3, _last_attention)
    return [make(arrays) for make in makers], arrays.images


def folding(config: ViTConfig) -> Callable[[], None]:
    """A function that folds one block and unfolds its gradients, as is done once a step."""
    config = replace(config, layers=2)
    params = initialise(config)
    grads = params.zeros_like()

    def once() -> None:
        fold(config, params, 0)
        unfold_gradients(config, params, 0, grads)

    return once


def _gelu(arrays: Arrays) -> Trick:
    form = arrays.config.gelu

    def plain(h: Array, dg: Array) -> Results:
        g, cache = ops.gelu(h, form)
        dh = ops.gelu_backward(dg, cache)
        return g, dh, column_sums(dh)

    def engine(h: Array, dg: Array) -> Results:
        g, slope = gelu_and_slope(h, form)
        sums = np.zeros(dg.shape[1], dtype=dg.dtype)
        return g, gelu_backward(dg, slope, sums), sums

    shape = arrays.rows, arrays.config.mlp_width
    return Trick("GELU, its slope kept", (arrays.normal(*shape), arrays.normal(*shape)), plain, engine)


def _layer_norm(arrays: Arrays) -> Trick:
    """With the sum of the gradients of both branches. The engine's g comes from a centred matrix."""
    gain, offset = arrays.params.group("blocks.0.norm1")
    eps, shape = arrays.config.eps, (arrays.rows, arrays.config.width)
    x, dy, dx = (arrays.normal(*shape) for _ in range(3))
    g = dy * gain
    g -= g.mean(axis=1, keepdims=True)

    def plain(x: Array, dy: Array, g: Array, dx: Array) -> Results:
        y, cache = ops.layer_norm(x, gain, offset, eps)
        dbranch, _, _ = ops.layer_norm_backward(dy, cache)
        dx += dbranch
        return y, dx

    def engine(x: Array, dy: Array, g: Array, dx: Array) -> Results:
        n, r = normalise(x, eps)
        add_normalise_backward(dx, g, n, r)
        return n, dx

    def as_plain(n: Array, dx: Array) -> Results:
        return n * gain + offset, dx

    return Trick("LayerNorm, folded", (x, dy, g, dx), plain, engine, as_plain)


def _attention(arrays: Arrays) -> Trick:
    """The lines of ops.attention between its two matrices."""
    B, N, H, D = arrays.images, arrays.config.tokens, arrays.config.heads, arrays.config.width
    scale = 1 / math.sqrt(D // H)
    qkv, do = arrays.normal(B, N, 3, H, D // H), arrays.normal(B, N, H, D // H)
    scaled = qkv.copy()
    scaled[:, :, 0] *= scale

    def plain(qkv: Array, scaled: Array, do: Array) -> Results:
        q, k, v = qkv.transpose(2, 0, 3, 1, 4)
        q = q * scale
        A, cache = ops.softmax(q @ k.transpose(0, 1, 3, 2))
        o = np.ascontiguousarray((A @ v).transpose(0, 2, 1, 3))
        dO = do.transpose(0, 2, 1, 3)
        dqkv = np.empty_like(qkv)
        dq, dk, dv = dqkv.transpose(2, 0, 3, 1, 4)
        dA = dO @ v.transpose(0, 1, 3, 2)
        dv[...] = A.transpose(0, 1, 3, 2) @ dO
        dS = ops.softmax_backward(dA, cache)
        dq[...] = dS @ k * scale
        dk[...] = dS.transpose(0, 1, 3, 2) @ q
        return o, dqkv

    def engine(qkv: Array, scaled: Array, do: Array) -> Results:
        A = np.empty((B, H, N, N), dtype=scaled.dtype)
        o = attend(scaled, A)
        return o, attend_backward(do, scaled, o, A)

    def as_plain(o: Array, dqkv: Array) -> Results:
        dqkv[:, :, 0] *= scale
        return o, dqkv

    return Trick("attention between its matrices", (qkv, scaled, do), plain, engine, as_plain)


def _last_attention(arrays: Arrays) -> Trick:
    """With its matrices, which multiply a vector of each head instead of every token."""
    config = arrays.config
    B, N, H, D = arrays.images, config.tokens, config.heads, config.width
    scale = 1 / math.sqrt(D // H)
    qkv_weight, _, out_weight, out_bias = arrays.params.group("blocks.1.attn")
    qkv_bias = np.zeros(3 * D, dtype=np.float32)
    qkv_bias[:D] = arrays.normal(D)  # folding leaves no offsets of keys and values
    scaled_weight, scaled_bias = qkv_weight.copy(), scale * qkv_bias
    scaled_weight[:, :D] *= scale

    def plain(n: Array, dy: Array) -> Results:
        qkv, qkv_cache = ops.linear(n, qkv_weight, qkv_bias)
        q, k, v = split_heads(qkv, 3, H)
        o, attended = ops.attend(q[:, :, :1], k, v)
        y, out_cache = ops.linear(join_heads(o), out_weight, out_bias)
        do, *_ = ops.linear_backward(dy, out_cache)
        dqkv = np.zeros_like(qkv)
        dq, dk, dv = split_heads(dqkv, 3, H)
        dq[:, :, :1], dk[...], dv[...] = ops.attend_backward(split_heads(do, 1, H)[0], attended)
        dn, dweight, _ = ops.linear_backward(dqkv, qkv_cache)
        return y, dn, dweight

    def engine(n: Array, dy: Array) -> Results:
        o, kept = last_attention(n, scaled_weight, scaled_bias, H)
        y, out_cache = ops.linear(o[:, None], out_weight, out_bias)
        do, _, _ = ops.linear_backward(dy, out_cache)
        dweight, dq_bias = np.zeros_like(scaled_weight), np.zeros(D, dtype=np.float32)
        return y, last_attention_backward(do[:, 0], n, kept, scaled_weight, dweight, dq_bias), dweight

    def as_plain(y: Array, dn: Array, dweight: Array) -> Results:
        dweight[:, :D] *= scale
        return y, dn, dweight

    inputs = arrays.normal(B, N, D), arrays.normal(B, 1, D)
    return Trick("attention of the last block", inputs, plain, engine, as_plain)


def _weight_gradient(arrays: Arrays) -> Trick:
    R, D, M = arrays.rows, arrays.config.width, arrays.config.mlp_width
    inputs = arrays.normal(D, M), arrays.normal(R, D), arrays.normal(R, M)
    return Trick(
        "dW += n^T dh, by the product",
        inputs,
        lambda c, a, b: _sum_of_arrays(c, a.T, b),
        lambda c, a, b: _sum_by_product(c, a.T, b),
    )


def _residual_sum(arrays: Arrays) -> Trick:
    R, D, M = arrays.rows, arrays.config.width, arrays.config.mlp_width
    inputs = arrays.normal(R, D), arrays.normal(R, M), arrays.normal(M, D)
    return Trick("x += g W2, by the product", inputs, _sum_of_arrays, _sum_by_product)


def _sum_of_arrays(c: Array, a: Array, b: Array) -> Results:
    c += a @ b
    return (c,)


def _sum_by_product(c: Array, a: Array, b: Array) -> Results:
    add_product(c, a, b)
    return (c,)


def _bias(arrays: Arrays) -> Trick:
    R, D, M = arrays.rows, arrays.config.width, arrays.config.mlp_width
    return Trick(
        "the product begins with the bias",
        (arrays.normal(R, D), arrays.normal(D, M), arrays.normal(M)),
        lambda n, weight, bias: (ops.linear(n, weight, bias)[0],),
        lambda n, weight, bias: (product_plus_bias(n, weight, bias),),
    )


def _block(arrays: Arrays) -> Trick:
    config, params = arrays.config, arrays.params
    shape = arrays.images, config.tokens, config.width
    blocks = Blocks(config, params, [fold(config, params, 0)])
    plain_grads, engine_grads = params.zeros_like(), params.zeros_like()

    def plain(x: Array, dy: Array) -> Results:
        y, cache = block(params, "blocks.0", x, config.heads, config.gelu, config.eps)
        return y, block_backward(dy, cache, plain_grads, "blocks.0"), plain_grads.flat

    def engine(x: Array, dy: Array) -> Results:
        y, caches = blocks.forward(x, None)
        return y, blocks.backward(dy, caches, engine_grads), engine_grads.flat

    def as_plain(y: Array, dx: Array, flat: Array) -> Results:
        unfold_gradients(config, params, 0, engine_grads)
        return y, dx, flat

    return Trick("the whole block", (arrays.normal(*shape), arrays.normal(*shape)), plain, engine, as_plain)


def measure(model: str, image_size: int, pairs: int) -> dict:
    """All tricks on one thread, as a dictionary for JSON. Both ways take turns, `pairs` times."""
    config = Case(model, image_size, 1, "train", 1).config
    found, images = tricks(config)
    with one_blas_thread():
        rows = [_measured(trick, pairs) for trick in found]
        fold = folding(config)
        seconds = [_seconds(fold) for _ in range(pairs)]
    return {
        "model": model,
        "image_size": image_size,
        "images": images,
        "pairs": pairs,
        "tricks": rows,
        "folding_ms": 1e3 * float(np.median(seconds)),
    }


def table(result: dict) -> str:
    """The table for what measure gives."""
    width = max(len(row["shapes"]) for row in result["tricks"])
    lines = [
        f"{result['model']} at {result['image_size']} px: the tricks of the CPU engine one by one, on one "
        f"thread, {result['images']} images; medians of {result['pairs']} pairs",
        "",
        f"{'':33}{'inputs':{width}}{'plain ms':>10}{'engine ms':>11}{'times':>8}{'difference':>12}",
    ]
    lines += [
        f"{row['name']:33}{row['shapes']:{width}}{row['plain_ms']:10.3f}{row['engine_ms']:11.3f}"
        f"{row['times_as_fast']:8.2f}{row['difference']:12.1e}"
        for row in result["tricks"]
    ]
    fold = f"{result['folding_ms']:.3f} ms"
    return "\n".join([*lines, "", f"Folding a block and unfolding its gradients, once a step: {fold}."])


def _measured(trick: Trick, pairs: int) -> dict:
    """The row of one trick. The first run of each way is the warm-up, and its results are compared."""
    expected = trick.plain(*_copies(trick))
    difference = _difference(trick.as_plain(*trick.engine(*_copies(trick))), expected)
    ways = trick.plain, trick.engine
    seconds = np.array([[_seconds(way, *_copies(trick)) for way in ways] for _ in range(pairs)])
    plain, engine = np.median(seconds, axis=0)
    return {
        "name": trick.name,
        "shapes": trick.shapes,
        "plain_ms": 1e3 * float(plain),
        "engine_ms": 1e3 * float(engine),
        "times_as_fast": float(np.median(seconds[:, 0] / seconds[:, 1])),
        "difference": difference,
    }


def _copies(trick: Trick) -> Results:
    return tuple(each.copy() for each in trick.inputs)


def _seconds(way: Callable, *inputs: np.ndarray) -> float:
    start = time.perf_counter()
    way(*inputs)
    return time.perf_counter() - start


def _difference(got: Results, expected: Results) -> float:
    """The largest difference of any result, relative to the largest number of that result."""
    pairs = zip(got, expected, strict=True)
    return max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in pairs)


def main(args: argparse.Namespace) -> int:
    """Measure, and print the table."""
    print(table(measure(args.model, args.image_size, args.pairs)))
    return 0


def parser() -> argparse.ArgumentParser:
    """The command line."""
    p = argparse.ArgumentParser(prog="lessons.26_fast_cpu.tricks", description=__doc__.splitlines()[0])
    p.add_argument("--model", default="Ti/4", metavar="SIZE/PATCH", help="default: Ti/4")
    p.add_argument("--image-size", type=pixel_count, default=32, metavar="N", help="in pixels (default: 32)")
    p.add_argument(
        "--pairs",
        type=positive_int,
        default=41,  # short ones: on a busy machine, the median of many is worth more than a few long ones
        metavar="N",
        help="how often each way is timed (default: 41)",
    )
    return p


if __name__ == "__main__":
    run_command(parser(), main)
