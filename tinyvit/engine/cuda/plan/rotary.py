"""Rotary positions in a plan, if a model has them: between the product of q, k and v and attention."""

import numpy as np

from tinyvit.engine.cuda.calls.rotary import rotary_partials, rotate
from tinyvit.engine.cuda.calls.sums import ColumnSum
from tinyvit.engine.cuda.launch import Buffer
from tinyvit.engine.cuda.plan.draft import Draft
from tinyvit.model.later.rotary import fixed_tables


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
