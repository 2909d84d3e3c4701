"""The reference engine: operation after operation, on the whole batch. The definition of right."""

from __future__ import annotations

from tinyvit import model, ops
from tinyvit.backend import Array
from tinyvit.model import Params, ViTConfig


class ReferenceEngine:
    """Runs on NumPy and on CuPy arrays: the device follows the data.

    This is the interface of every engine: `label` names it in a printed line, and the two methods below.
    """

    label = "reference engine"

    def __init__(self, config: ViTConfig, smoothing: float = 0.0):
        self.config, self.smoothing = config, smoothing

    def loss_and_grads(
        self,
        params: Params,
        images: Array,
        targets: Array,
        grads: Params,
        noise: ops.Noise | None = None,
        share: float = 1.0,
    ) -> Array:
        """As model.loss_and_grads: the loss times share; the gradients times share are added to grads."""
        return model.loss_and_grads(params, self.config, images, targets, grads, self.smoothing, noise, share)

    def logits(self, params: Params, images: Array) -> Array:
        """Logits (B, C) of images (B, H, W, 3), without dropout."""
        return model.forward(params, self.config, images)[0]
