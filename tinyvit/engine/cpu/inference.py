"""The blocks of a model for inference, where nothing is kept for a backward pass.

A block is that of engine.cpu.blocks, but its parameters are taken as they are. Folding them would need a copy
of more than half of a model's weights, to save two passes over rows that are in the cache.
"""

from __future__ import annotations

import math

import numpy as np

from tinyvit.engine.cpu.attention import attend
from tinyvit.engine.cpu.gelu import gelu_alone
from tinyvit.engine.cpu.last_attention import last_attention
from tinyvit.engine.cpu.normalise import layer_norm
from tinyvit.engine.cpu.products import add_product, product_plus_bias
from tinyvit.model import Params, ViTConfig


class InferenceBlocks:
    """All blocks of a model that Blocks can compute, for model.infer. It has no state of its own."""

    def __init__(self, config: ViTConfig, params: Params):
        self.config, self.params = config, params

    def infer(self, x: np.ndarray) -> np.ndarray:
        """Tokens (B, N, D) to those that leave the last block (B, R, D). x is overwritten."""
        for i in range(self.config.layers):
            x = self._block(i, x)
        return x

    def _block(self, i: int, x: np.ndarray) -> np.ndarray:
        config, params, D = self.config, self.params, x.shape[2]
        _, _, out, out_bias = params.group(f"blocks.{i}.attn")
        gain, offset = params.group(f"blocks.{i}.norm2")
        fc1, fc1_bias, fc2, fc2_bias = params.group(f"blocks.{i}.mlp")

        o = self._attention(i, x)  # (B Q, D)
        x = np.ascontiguousarray(x[:, : config.rows_after(i)])
        rows = x.reshape(-1, D)  # (B Q, D), a view
        add_product(rows, o, out)  #                                                         eq. 1
        del o  # its memory is used again for the MLP
        n = layer_norm(rows, gain, offset, config.eps, out_bias)
        h = product_plus_bias(n, fc1, fc1_bias)  # (B Q, M)
        add_product(rows, gelu_alone(h, config.gelu), fc2)
        rows += fc2_bias  #                                                                  eq. 2
        return x

    def _attention(self, i: int, x: np.ndarray) -> np.ndarray:
        """Outputs of attention (B Q, D) for tokens (B, N, D)."""
        config, (B, N, D), H = self.config, x.shape, self.config.heads
        gain, offset = self.params.group(f"blocks.{i}.norm1")
        weight, bias, *_ = self.params.group(f"blocks.{i}.attn")
        scale = 1 / math.sqrt(D // H)

        n = layer_norm(x.reshape(-1, D), gain, offset, config.eps)  # (B N, D)
        if config.rows_after(i):
            o, _ = last_attention(n.reshape(x.shape), weight, bias, H, scale)
            return o + bias[2 * D :]
        qkv = product_plus_bias(n, weight, bias)  # (B N, 3D)
        del n
        return attend(qkv.reshape(B, N, 3, H, D // H), scale=scale).reshape(-1, D)
