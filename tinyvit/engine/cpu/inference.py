"""The blocks of a model for inference, where nothing is kept for a backward pass.

A block is that of engine.cpu.blocks. Its parameters can be taken as they are, or folded once for all images.
That takes a copy of all matrices, and repays the passes over them only if there are many images.
"""

import math

import numpy as np

from tinyvit.engine.cpu.attention import attend, turn_in_place
from tinyvit.engine.cpu.folding import Folded
from tinyvit.engine.cpu.gelu import twice_gelu
from tinyvit.engine.cpu.last_attention import last_attention
from tinyvit.engine.cpu.normalise import layer_norm, normalise
from tinyvit.engine.cpu.products import add_product, product_plus_bias
from tinyvit.model import Params, ViTConfig
from tinyvit.model.arrange import no_backward, split_at_blocks
from tinyvit.model.later.rotary import turn_of
from tinyvit.model.stage import Stage


class InferenceBlocks:
    """All blocks of a model that Blocks can compute, as one stage for inference. It has no state.

    folded are the parameters of each block from engine.cpu.folding, or None to take those of params.
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
            x = self._block(i, x)
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
