"""Folding: what algebra can move from the tokens into the matrices, done once for all images of a step.

A block (see model.block) makes several passes over its tokens that are linear. Each can be merged with the
matrix before or after it. W' and c' are what the engine computes with:

    gain and offset     (n * w + b) W + c  =  n W' + c'      W' = diag(w) W     c' = b W + c           (1)
    the mean            n has mean 0, so W' may lose its mean over inputs       W' = (1 - 11^T/D) W'   (2)
    1 / sqrt(K)         of the scores: in the columns of W' and c' for queries                         (3)
    key offsets         add a constant to each row of scores, which softmax ignores                    (4)
    value offsets       the rows of A sum to 1, so (A (v + b)) Wo + bo  =  A v Wo + (b Wo + bo)        (5)
    LayerScale          (o Wo + bo) * g  =  o (Wo * g) + bo * g, likewise in the MLP                   (6)

In (2) nothing changes in the forward pass. In the backward pass, dn = dy W'^T then has mean 0 in every row,
as the gradient of LayerNorm needs it.

Backward. The engine finds the gradients dW' and dc'. By the chain rule, from (1), with s = 1 / sqrt(K) for
queries and 1 for the rest,

    dW = s (diag(w) dW' + b dc'^T)      dw = row sums of s W * dW'       db = s W dc'      dc = s dc'  (7)

where (2) needs nothing further, since the columns of dW' = n^T dy sum to 0 of their own. From (5), with b the
offsets of the values,

    dbo = dbo'      dWo = dWo' + b dbo'^T      db = Wo dbo'                                            (8)

From (6), before (8), with bo that of (5),

    dg = column sums of Wo * dWo' + bo * dbo'        dWo = dWo' * g        dbo = dbo' * g                (9)

All are done once a step, whatever the number of images. Until then, the folded gradients stand in the places
of the parameters' own. Only dc' of queries and keys stands in those of the norm's gain and offset, since a
model may have no such biases.

Rotary positions turn the offset of each key by another angle, so (4) does not hold for them. In other models
dc' of the keys is 0.
"""

import math
from typing import NamedTuple

import numpy as np

from tinyvit.engine.cpu.products import add_product, pieces
from tinyvit.model import Params, ViTConfig
from tinyvit.model.later.biases import attention_weights, own_biases


class Folded(NamedTuple):
    """The matrices and offsets that a block computes with, of width D and MLP width M."""

    qkv: np.ndarray  # (D, 3D)
    qkv_bias: np.ndarray  # (3D,), 0 for keys and values
    out: np.ndarray  # (D, D)
    out_bias: np.ndarray  # (D,)
    fc1: np.ndarray  # (D, M)
    fc1_bias: np.ndarray  # (M,)
    fc2: np.ndarray  # (M, D)
    fc2_bias: np.ndarray  # (D,)


def fold(config: ViTConfig, params: Params, i: int) -> Folded:
    """The folded parameters of block number i."""
    (gain1, offset1), (gain2, offset2) = params.group(f"blocks.{i}.norm1"), params.group(f"blocks.{i}.norm2")
    qkv, qkv_bias, out, out_bias = attention_weights(config, params, f"blocks.{i}")
    fc1, fc1_bias, fc2, fc2_bias = params.group(f"blocks.{i}.mlp")
    D, scale = config.width, _scale(config)

    qkv, qkv_bias = _fold_norm(gain1, offset1, qkv, qkv_bias)
    qkv[:, :D] *= scale  #                                                                   eq. 3
    out_bias = qkv_bias[2 * D :] @ out + out_bias  #                                         eq. 5
    qkv_bias[:D] *= scale
    qkv_bias[2 * D :] = 0  #                                                                 eq. 5
    if config.rotary is None:  # turned keys are not all moved alike by their offset
        qkv_bias[D : 2 * D] = 0  #                                                           eq. 4
    fc1, fc1_bias = _fold_norm(gain2, offset2, fc1, fc1_bias)
    if config.layer_scale:
        scale1, scale2 = params[f"blocks.{i}.scale1"], params[f"blocks.{i}.scale2"]
        out, out_bias = out * scale1, out_bias * scale1  #                                   eq. 6
        fc2, fc2_bias = fc2 * scale2, fc2_bias * scale2
    return Folded(qkv, qkv_bias, out, out_bias, fc1, fc1_bias, fc2, fc2_bias)


def unfold_gradients(config: ViTConfig, params: Params, i: int, grads: Params) -> None:
    """Turn the gradients of block i's folded parameters, in grads, into those of the parameters."""
    p, D, scale = f"blocks.{i}", config.width, _scale(config)
    gain, offset = params.group(f"{p}.norm1")
    qkv, qkv_bias, out, out_bias = attention_weights(config, params, p)
    dqkv, *dbiases, dout, dout_bias = grads.group(f"{p}.attn")
    dgain, doffset = grads.group(f"{p}.norm1")
    if config.layer_scale:
        bias = (offset @ qkv[:, 2 * D :] + qkv_bias[2 * D :]) @ out + out_bias  #            eq. 5
        _unfold_scale(params[f"{p}.scale1"], out, bias, dout, dout_bias, grads[f"{p}.scale1"])
        _, _, fc2, fc2_bias = params.group(f"{p}.mlp")
        _, _, dfc2, dfc2_bias = grads.group(f"{p}.mlp")
        _unfold_scale(params[f"{p}.scale2"], fc2, fc2_bias, dfc2, dfc2_bias, grads[f"{p}.scale2"])
    dqkv[:, :D] *= scale
    dqkv_bias = np.concatenate([dgain * scale, doffset, out @ dout_bias])  #                 eq. 7, 8
    _add_outer(dout, offset @ qkv[:, 2 * D :] + qkv_bias[2 * D :], dout_bias)
    _unfold_norm(gain, offset, qkv, dqkv, dqkv_bias, dgain, doffset)
    for place, values in zip(dbiases, own_biases(config, dqkv_bias), strict=True):
        place += values

    gain, offset = params.group(f"{p}.norm2")
    fc1, *_ = params.group(f"{p}.mlp")
    dfc1, dfc1_bias, *_ = grads.group(f"{p}.mlp")
    _unfold_norm(gain, offset, fc1, dfc1, dfc1_bias, *grads.group(f"{p}.norm2"))


def _unfold_scale(
    gain: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray,
    dweight: np.ndarray,
    dbias: np.ndarray,
    dgain: np.ndarray,
) -> None:
    """Equation 9, in place; dgain is a result."""
    np.multiply(bias, dbias, out=dgain)
    for rows in pieces(*weight.shape):
        dgain += (weight[rows] * dweight[rows]).sum(axis=0)
        dweight[rows] *= gain
    dbias *= gain


def _fold_norm(
    gain: np.ndarray, offset: np.ndarray, weight: np.ndarray, bias: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Equations 1 and 2: W' (D, O) and c' (O,), for W = weight and c = bias."""
    mean, folded = (gain / len(gain)) @ weight, np.empty_like(weight)
    for rows in pieces(*weight.shape):
        np.multiply(gain[rows, None], weight[rows], out=folded[rows])
        folded[rows] -= mean
    return folded, offset @ weight + bias


def _unfold_norm(
    gain: np.ndarray,
    offset: np.ndarray,
    weight: np.ndarray,
    dweight: np.ndarray,
    dbias: np.ndarray,
    dgain: np.ndarray,
    doffset: np.ndarray,
) -> None:
    """Equation 7, in place; dgain and doffset are results."""
    for rows in pieces(*weight.shape):
        w, dw = weight[rows], dweight[rows]
        np.vecdot(w, dw, out=dgain[rows])
        np.matmul(w, dbias, out=doffset[rows])
        dw *= gain[rows, None]
        _add_outer(dw, offset[rows], dbias)


def _add_outer(matrix: np.ndarray, column: np.ndarray, row: np.ndarray) -> None:
    add_product(matrix, column.reshape(-1, 1), row.reshape(1, -1))


def _scale(config: ViTConfig) -> float:
    return 1 / math.sqrt(config.width // config.heads)
