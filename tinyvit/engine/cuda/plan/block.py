"""One Transformer block in a plan, forward and backward, as in model/block.py.

The sum at the end of a block is carried out by the LayerNorm of the next one: see residual.py.
"""

from typing import NamedTuple

import numpy as np

from tinyvit.engine.cuda.calls.attention import (
    ScoreMask,
    attention,
    attention_backward,
    rotary_partials,
    rotate,
)
from tinyvit.engine.cuda.calls.gelu import bias_gelu, bias_gelu_backward
from tinyvit.engine.cuda.calls.gelu import partial_rows as gelu_partial_rows
from tinyvit.engine.cuda.calls.noise import Mask
from tinyvit.engine.cuda.calls.sums import ColumnSum
from tinyvit.engine.cuda.launch import Buffer
from tinyvit.engine.cuda.plan.draft import Draft
from tinyvit.engine.cuda.plan.residual import Norm, Sum, add_and_norm, add_and_norm_backward
from tinyvit.model.later.rotary import fixed_tables


class Block(NamedTuple):
    """The cache of a block."""

    norm1: Norm
    qkv: Buffer
    added: Buffer  # what attention adds to qkv
    dropout: ScoreMask
    o: Buffer
    log_sums: Buffer
    norm2: Norm
    h: Buffer
    mask: Mask | None  # of the dropout after the GELU
    g: Buffer


def block(draft: Draft, i: int, tokens: Sum) -> tuple[Sum, Block]:
    """Block number i: tokens (B*N, D) to tokens (B*R, D), where R is 1 if only the class token is needed."""
    config, B, N, D = draft.config, draft.batch, draft.config.tokens, draft.config.width
    p, path_rate = f"blocks.{i}", config.drop_path_rate(i)
    R = config.tokens_needed_after(i) or N

    norm1 = add_and_norm(draft, tokens, f"{p}.norm1")  # (B*N, D)
    qkv = draft.linear(norm1.y, f"{p}.attn.qkv.weight", f"{p}.qkv").view(0, B, N, 3 * D)
    added = turn(draft, qkv, p)
    rate, site = draft.draw(config.attention_dropout)
    dropout = ScoreMask(rate, site, draft.keys if rate else None)
    o = draft.array(f"{p}.o", B, R, D)
    log_sums = draft.array(f"{p}.log_sums", B, config.heads, R, dtype="float32")
    draft.add(attention(qkv, added, o, log_sums, dropout), f"{p}.attention")
    mask = draft.mask(config.dropout, path_rate, R)
    a = draft.linear(o.view(0, B * R, D), f"{p}.attn.out.weight", f"{p}.a")  # (B*R, D)
    after = Sum(norm1.total, a, f"{p}.attn.out.bias", mask, N if R == 1 else 1)

    norm2 = add_and_norm(draft, after, f"{p}.norm2")  # (B*R, D)
    mask = draft.mask(config.dropout, 0.0, R)
    h = draft.linear(norm2.y, f"{p}.mlp.fc1.weight", f"{p}.h")  # (B*R, M)
    g = draft.array(f"{p}.g", *h.shape)
    bias = draft.parameters[f"{p}.mlp.fc1.bias"]
    launch = bias_gelu(h, bias, mask, g, config.gelu, draft.options.multiprocessors)
    draft.add(launch, f"{p}.gelu")
    m = draft.linear(g, f"{p}.mlp.fc2.weight", f"{p}.m")  # (B*R, D)
    result = Sum(norm2.total, m, f"{p}.mlp.fc2.bias", draft.mask(config.dropout, path_rate, R))
    return result, Block(norm1, qkv, added, dropout, o, log_sums, norm2, h, mask, g)


def block_backward(draft: Draft, i: int, dy: Buffer, dm: Buffer, cache: Block) -> tuple[Buffer, Buffer]:
    """Gradients of the tokens that block number i is given, (B*N, D), and of the branch in their sum.

    dy (B*R, D) is the gradient of the tokens that leave the block, and dm that of its MLP's result.
    """
    config, B, N, D = draft.config, draft.batch, draft.config.tokens, draft.config.width
    p, R, M = f"blocks.{i}", config.tokens_needed_after(i) or N, config.mlp_width

    dg = draft.linear_backward(dm, cache.g, f"{p}.mlp.fc2.weight", f"{p}.dg")  # (B*R, M)
    dh = draft.array(f"{p}.dh", *dg.shape)
    partials = draft.partials(gelu_partial_rows(B * R, M, draft.dtype, draft.options.multiprocessors), M)
    bias = draft.parameters[f"{p}.mlp.fc1.bias"]
    launch = bias_gelu_backward(dg, cache.h, bias, cache.mask, dh, partials, config.gelu)
    draft.add(launch, f"{p}.gelu backward")
    draft.sums_to(f"{p}.mlp.fc1.bias", partials)
    dn = draft.linear_backward(dh, cache.norm2.y, f"{p}.mlp.fc1.weight", f"{p}.norm2.dy")  # (B*R, D)
    dx, da = add_and_norm_backward(draft, dn, cache.norm2, skip=dy)

    do = draft.linear_backward(da, cache.o.view(0, B * R, D), f"{p}.attn.out.weight", f"{p}.do")
    dqkv = draft.array(f"{p}.dqkv", B, N, 3 * D)
    partials = draft.partials(B, 3 * D)
    reads = do.view(0, B, R, D), cache.o, cache.qkv, cache.added, cache.log_sums
    launch = attention_backward(*reads, dqkv, partials, cache.dropout, draft.options.shared_limit)
    draft.add(launch, f"{p}.attention backward")
    turn_back(draft, dqkv, partials, p)  # which leaves the gradient of the bias, too
    dqkv = dqkv.view(0, B * N, 3 * D)
    dn = draft.linear_backward(dqkv, cache.norm1.y, f"{p}.attn.qkv.weight", f"{p}.norm1.dy")  # (B*N, D)
    return add_and_norm_backward(draft, dn, cache.norm1, skip=dx, skip_every=N if R == 1 else 1)


def turn(draft: Draft, qkv: Buffer, part: str) -> Buffer:
    """Turn q and k; returns the bias (3D,) that attention is to add: zeros, if it had to be added before."""
    bias = draft.parameters[f"{part}.attn.qkv.bias"]
    if not draft.config.rotary:
        return bias
    _rotate(draft, qkv, bias, f"{part}.rotary")
    return draft.constant("no_bias", np.zeros(bias.shape, np.float32))


def turn_back(draft: Draft, dqkv: Buffer, partials: Buffer, part: str) -> None:
    """Turn dq and dk back, and sum the gradient of the bias: of dqkv, attention left the sums (B, 3D)."""
    (B, N, width), D, name = dqkv.shape, draft.config.width, f"{part}.attn.qkv.bias"
    if not draft.config.rotary:
        draft.sums_to(name, partials)
        return
    start, of_qk = draft.grads[name].start, draft.partials(rotary_partials(B * N), 2 * D)
    _rotate(draft, dqkv, of_qk, f"{part}.rotary backward")
    draft.sums.append(ColumnSum(of_qk.start, of_qk.shape[0], 2 * D, start, 2 * D))
    draft.sums.append(ColumnSum(partials.start + 2 * D, B, D, start + 2 * D, width))


def _rotate(draft: Draft, qkv: Buffer, other: Buffer, label: str) -> None:
    config = draft.config
    cos, sin = fixed_tables(config.rotary, config.grid, config.head_width, "float32")
    tables = draft.constant("rotary.cos", cos), draft.constant("rotary.sin", sin)
    draft.add(rotate(qkv, tables, other, config.heads, config.rotary.pairs), label)
