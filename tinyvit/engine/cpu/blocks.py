"""The blocks of a model as the CPU engine trains them: the mathematics of model.block, cut for the caches.

    x' = x  + attention(LayerNorm(x))                                                      (1)
    y  = x' + MLP(LayerNorm(x'))                                                           (2)

Tokens are rows (R, D). Both sums are made in place, by the product itself. Parameters are folded, and so are
the gradients: see engine.cpu.folding. What is left of LayerNorm, normalise and its backward, stands below.
"""

import math
from typing import NamedTuple

import numpy as np

from tinyvit import ops
from tinyvit.engine.cpu.attention import (
    AttentionCache,
    LastAttentionCache,
    attend,
    attention,
    attention_backward,
    last_attention,
    last_attention_backward,
    turn_in_place,
)
from tinyvit.engine.cpu.folding import Folded
from tinyvit.engine.cpu.gelu import gelu_and_slope, gelu_backward, twice_gelu
from tinyvit.engine.cpu.products import add_product, pieces, product_plus_bias
from tinyvit.model import Params, ViTConfig
from tinyvit.model.later import fields_known_to
from tinyvit.model.later.rotary import turn_of
from tinyvit.model.stage import Stage, freeze, no_backward, split_at_blocks
from tinyvit.ops.layer_norm import row_means
from tinyvit.ops.linear import column_sums


class BlockCache(NamedTuple):
    """The cache of a block."""

    n1: np.ndarray  # (B, N, D)
    r1: np.ndarray  # (B N, 1)
    o: np.ndarray  # (B Q, D)
    attention: AttentionCache | LastAttentionCache
    path1: np.ndarray | None  # (B, 1, 1)
    n2: np.ndarray  # (B Q, D)
    r2: np.ndarray  # (B Q, 1)
    g: np.ndarray  # (B Q, M)
    slope: np.ndarray  # (B Q, M), or (B Q, 2M) if gated
    path2: np.ndarray | None


class Blocks:
    """All blocks of a model, as one stage. It has no state, so threads can share it.

    params are the model's, and folded the folded weights of each block (see engine.cpu.folding).
    """

    def __init__(self, config: ViTConfig, params: Params, folded: list[Folded]):
        self.config, self.params, self.folded = config, params, folded

    def arrange(self, noise: ops.Noise | None, frozen: int | None, stages: list[Stage]) -> list[Stage]:
        """The stages of a model with these blocks as one stage; the first `frozen` of them do not learn."""
        stem, _, readout = split_at_blocks(stages)
        blocks = Stage("blocks", lambda params, x: self.forward(x, noise, frozen or 0), self.backward)
        return [*(stem if frozen is None else [freeze(stem)]), blocks, *readout]

    @staticmethod
    def unsupported_fields(config: ViTConfig) -> set[str]:
        """The fields of config that ask for something that these blocks cannot compute."""
        if not config.has_transformer:
            return {"resnet"}
        fields = config.later_parts.keys() - fields_known_to("cpu")
        if config.rotary and config.rotary.learned:
            fields.add("rotary")
        fields |= {name for name in ("dropout", "attention_dropout") if getattr(config, name)}
        return fields | ({"position_at"} if config.position_at in ("blocks", "shared") else set())

    def forward(
        self, x: np.ndarray, noise: ops.Noise | None, frozen: int = 0
    ) -> tuple[np.ndarray, list[BlockCache]]:
        """Tokens (B, N, D) to those that leave the last block (B, R, D), and the caches. x is overwritten.

        There are no caches of the first `frozen` blocks, and no backward pass through them.
        """
        caches = []
        for i in range(len(self.folded)):
            x, cache = self._block(i, _merged(self.config, i, x), noise)
            if i >= frozen:
                caches.append(cache)
        return x, caches

    def backward(self, dy: np.ndarray, caches: list[BlockCache], grads: Params) -> np.ndarray:
        """Gradient of forward: dy (B, R, D) to dx (B, N, D); adds the folded parameters' to grads.

        dy is contiguous, and is overwritten.
        """
        for i in reversed(range(len(self.folded) - len(caches), len(self.folded))):
            dy = self._block_backward(i, dy, caches.pop(), grads)
            if i and i == self.config.merge_after:
                shape = len(dy), self.config.tokens, self.config.width
                dy = ops.merge_squares_backward(dy, (shape, self.config.grid))
        return dy

    def _block(self, i: int, x: np.ndarray, noise: ops.Noise | None) -> tuple[np.ndarray, BlockCache]:
        config, w = self.config, self.folded[i]
        _, N, D = x.shape
        Q = config.tokens_needed_after(i) or N

        n1, r1 = normalise(x.reshape(-1, D), config.eps)
        n1 = n1.reshape(x.shape)
        turn = turn_of(config, self.params, i)
        o: np.ndarray
        kept: AttentionCache | LastAttentionCache
        if Q < N and turn is None:
            o, kept = last_attention(n1, w.qkv, w.qkv_bias, config.heads)
        else:
            o, kept = attention(n1, w.qkv, w.qkv_bias, config.heads, turn, Q)
        x, o = np.ascontiguousarray(x[:, :Q]), o.reshape(-1, D)
        path1 = self._add_branch(x, i, o, w.out, w.out_bias, noise)  #                       eq. 1

        n2, r2 = normalise(x.reshape(-1, D), config.eps)  # (B Q, D)
        g, slope = gelu_and_slope(product_plus_bias(n2, w.fc1, w.fc1_bias), config.gelu, config.gated)
        path2 = self._add_branch(x, i, g, w.fc2, w.fc2_bias, noise)  #                       eq. 2
        return x, BlockCache(n1, r1, o, kept, path1, n2, r2, g, slope, path2)

    def _block_backward(self, i: int, dy: np.ndarray, cache: BlockCache, grads: Params) -> np.ndarray:
        w, D = self.folded[i], dy.shape[2]
        dqkv_weight, *_, dout_weight, dout_bias = grads.group(f"blocks.{i}.attn")
        dq_bias, dk_bias = grads.group(f"blocks.{i}.norm1")  # the folded parameters have no other use for it
        dfc1_weight, dfc1_bias, dfc2_weight, dfc2_bias = grads.group(f"blocks.{i}.mlp")
        dx = dy.reshape(-1, D)  # (B Q, D), overwritten

        dm = _times(dy, cache.path2).reshape(-1, D)  # (B Q, D)
        add_product(dfc2_weight, cache.g.T, dm)
        dfc2_bias += column_sums(dm)
        dh = gelu_backward(dm @ w.fc2.T, cache.slope, dfc1_bias)  # (B Q, M)
        add_product(dfc1_weight, cache.n2.T, dh)
        add_normalise_backward(dx, dh @ w.fc1.T, cache.n2, cache.r2)

        da = _times(dy, cache.path1).reshape(-1, D)
        add_product(dout_weight, cache.o.T, da)
        dout_bias += column_sums(da)
        do = (da @ w.out.T).reshape(dy.shape)  # (B, Q, D)
        if isinstance(cache.attention, LastAttentionCache):
            dn = last_attention_backward(do, cache.n1, cache.attention, w.qkv, dqkv_weight, dq_bias)
        else:
            dn = attention_backward(do, cache.n1, cache.attention, w.qkv, dqkv_weight, dq_bias, dk_bias)
        dx = _all_tokens(dy, dn.shape[1])
        add_normalise_backward(dx.reshape(-1, D), dn.reshape(-1, D), cache.n1.reshape(-1, D), cache.r1)
        return dx

    def _add_branch(
        self,
        x: np.ndarray,
        i: int,
        rows: np.ndarray,
        weight: np.ndarray,
        bias: np.ndarray,
        noise: ops.Noise | None,
    ) -> np.ndarray | None:
        """x (B, Q, D) += rows @ weight + bias, except for images whose branch is dropped: see the mask."""
        ones = np.ones((len(x), 1, 1), dtype=x.dtype)
        _, mask = ops.drop_path(ones, self.config.drop_path_rate(i), noise)
        if mask is None:
            flat = x.reshape(-1, x.shape[2])
            add_product(flat, rows, weight)
            flat += bias
        else:
            x += (rows @ weight + bias).reshape(x.shape) * mask
        return mask


def _merged(config: ViTConfig, i: int, x: np.ndarray) -> np.ndarray:
    """The tokens that block i computes with: see model.later.merged_patches."""
    return ops.merge_squares(x, config.grid)[0] if i and i == config.merge_after else x


def _times(dy: np.ndarray, mask: np.ndarray | None) -> np.ndarray:
    return dy if mask is None else dy * mask


def _all_tokens(dx: np.ndarray, N: int) -> np.ndarray:
    """dx (B, Q, D) of the first tokens as (B, N, D), with zeros for the others."""
    if dx.shape[1] == N:
        return dx
    full = np.zeros((dx.shape[0], N, dx.shape[2]), dtype=dx.dtype)
    full[:, : dx.shape[1]] = dx
    return full


class InferenceBlocks:
    """All blocks of a model that Blocks can compute, as one stage for inference. It has no state.

    folded are the parameters of each block from engine.cpu.folding, or None to take those of params. Folding
    takes a copy of all matrices, and repays the passes over them only if there are many images.
    """

    def __init__(self, config: ViTConfig, params: Params, folded: list[Folded] | None = None):
        self.config, self.params, self.folded = config, params, folded

    def arrange(self, stages: list[Stage]) -> list[Stage]:
        """The stages of a model with these blocks as one stage, which has no backward pass."""
        stem, _, readout = split_at_blocks(stages)
        return [*stem, Stage("blocks", lambda params, x: (self.infer(x), None), no_backward), *readout]

    def infer(self, x: np.ndarray) -> np.ndarray:
        """Tokens (B, N, D) to those that leave the last block (B, R, D). x is overwritten."""
        for i in range(self.config.layers):
            x = self._block(i, _merged(self.config, i, x))
        return x

    def _block(self, i: int, x: np.ndarray) -> np.ndarray:
        w, D = self._weights(i), x.shape[2]
        o = self._attention(i, x, w)  # (B Q, D)
        x = np.ascontiguousarray(x[:, : self.config.tokens_needed_after(i)])
        rows = x.reshape(-1, D)  # (B Q, D), a view
        add_product(rows, o, w.out)  #                                                       eq. 1
        del o  # its memory is used again for the MLP
        n = self._layer_norm(f"blocks.{i}.norm2", rows, w.out_bias)
        h = product_plus_bias(n, w.fc1, w.fc1_bias)  # (B Q, M), or (B Q, 2M) if gated
        add_product(rows, twice_gelu(h, self.config.gelu, self.config.gated), w.fc2, 0.5)
        rows += w.fc2_bias  #                                                                eq. 2
        return x

    def _attention(self, i: int, x: np.ndarray, w: Folded) -> np.ndarray:
        """Outputs of attention (B Q, D) for tokens (B, N, D)."""
        (B, N, D), H = x.shape, self.config.heads
        scale = 1.0 if self.folded else 1 / math.sqrt(D // H)

        n = self._layer_norm(f"blocks.{i}.norm1", x.reshape(-1, D))  # (B N, D)
        rows, turn = self.config.tokens_needed_after(i), turn_of(self.config, self.params, i)
        if rows and turn is None:
            o, _ = last_attention(n.reshape(x.shape), w.qkv, w.qkv_bias, H, scale)
            return o + w.qkv_bias[2 * D :]
        qkv = product_plus_bias(n, w.qkv, w.qkv_bias).reshape(B, N, 3, H, D // H)
        del n
        if turn is not None:
            turn_in_place(qkv, turn)
        return attend(qkv, scale=scale, queries=rows).reshape(-1, D)

    def _weights(self, i: int) -> Folded:
        if self.folded:
            return self.folded[i]
        return Folded(*self.params.group(f"blocks.{i}.attn"), *self.params.group(f"blocks.{i}.mlp"))

    def _layer_norm(self, name: str, rows: np.ndarray, bias: np.ndarray | None = None) -> np.ndarray:
        """LayerNorm of rows (R, D) + bias (D,), without what is folded. The bias is added in place."""
        if self.folded:
            return normalise(rows, self.config.eps, bias)[0]
        gain, offset = self.params.group(name)
        return layer_norm(rows, gain, offset, self.config.eps, bias)


def normalise(x: np.ndarray, eps: float, bias: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """n (R, D), the rows of x (R, D) + bias (D,) with mean 0 and variance 1, and their scale r (R, 1).

    LayerNorm's gain and offset are folded into the next matrix. The bias is added in place.
    """
    n, r = np.empty_like(x), np.empty((len(x), 1), dtype=x.dtype)
    for rows in pieces(*x.shape):
        if bias is not None:
            x[rows] += bias
        _normalise_piece(x[rows], eps, n[rows], r[rows])
    return n, r


def layer_norm(
    x: np.ndarray, gain: np.ndarray, offset: np.ndarray, eps: float, bias: np.ndarray | None = None
) -> np.ndarray:
    """The whole LayerNorm of the rows of x (R, D) + bias (D,), for inference. The bias is added in place."""
    y, r = np.empty_like(x), np.empty((len(x), 1), dtype=x.dtype)
    for rows in pieces(*x.shape):
        x_, y_ = x[rows], y[rows]
        if bias is not None:
            x_ += bias
        _normalise_piece(x_, eps, y_, r[rows])
        y_ *= gain
        y_ += offset
    return y


def _normalise_piece(x: np.ndarray, eps: float, n: np.ndarray, r: np.ndarray) -> None:
    """Write the normalised rows of x (R, D) to n (R, D), and 1 / sqrt(variance + eps) to r (R, 1)."""
    np.subtract(x, row_means(x), out=n)
    np.vecdot(n, n, out=r[:, 0])
    r *= 1 / n.shape[1]
    r += eps
    np.sqrt(r, out=r)
    np.reciprocal(r, out=r)
    n *= r


def add_normalise_backward(dx: np.ndarray, g: np.ndarray, n: np.ndarray, r: np.ndarray) -> None:
    """Add to dx (R, D) the gradient r (g - n mean(g n)), for the gradient g (R, D) of n. g is overwritten.

    The rows of g must have mean 0, as those from a folded matrix do: it has no component along a constant.
    """
    R, D = dx.shape
    for rows in pieces(R, D):
        dx_, g_, n_ = dx[rows], g[rows], n[rows]
        c = np.vecdot(g_, n_)[:, None]
        c *= -1 / D
        g_ += n_ * c
        g_ *= r[rows]
        dx_ += g_
