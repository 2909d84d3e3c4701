"""Gradient checks of whole small models: every parameter, from the pixels to the loss."""

from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from tinyvit import model, ops
from tinyvit.backend import Array
from tinyvit.gradcheck.finite_differences import gradient_error, numerical_gradient
from tinyvit.model import Params, ViTConfig
from tinyvit.model.later.rotary import DINOV3, Rotary
from tinyvit.objectives import Objective, loss_and_grads, masked_patches


@dataclass(frozen=True)
class ModelCheck:
    """A small model, and whether dropout and stochastic depth act.

    target is what it predicts of corrupted patches (see objectives.masked_patches); None if it classifies.
    """

    name: str
    config: ViTConfig
    training: bool = False
    target: str | None = None

    @property
    def objective(self) -> Objective:
        """The function whose gradients are checked."""
        if self.target:
            return partial(masked_patches.loss_and_grads, target=self.target)
        return loss_and_grads

    def errors(self, seed: int, xp: ModuleType = np) -> dict[str, float]:
        """The error of each parameter's gradient, at random parameters (no gain is 1, no bias or head 0)."""
        rng = np.random.default_rng(seed)
        config = self.config
        params = random_params(config, rng).to(xp)
        images = xp.asarray(rng.standard_normal((2, *config.image_size, config.channels)))
        labels = xp.asarray(rng.integers(0, config.classes, 2))
        grads, scratch = params.zeros_like(), params.zeros_like()

        def loss() -> Array:
            noise = self._noise()
            if self.target:
                assert noise, "which patches are corrupted is drawn from it"
                return masked_patches.forward_loss(config, params, images, self.target, 0.5, noise)[0]
            logits, _ = model.forward(config, params, images, noise)
            return ops.cross_entropy(logits, labels)[0]

        self.objective(config, params, images, labels, grads, noise=self._noise())
        scratch.flat[...] = numerical_gradient(loss, params.flat)
        return {name: gradient_error(grads[name], scratch[name]) for name in params}

    def _noise(self) -> ops.Noise | None:
        return ops.Noise(seed=3, step=4) if self.training else None


def random_params(config: ViTConfig, rng: np.random.Generator, dtype: str = "float64") -> Params:
    """Parameters with noise added to every initial value, so that none is exactly 0 or 1."""
    params = model.initialise(config, seed=int(rng.integers(2**31)), dtype=dtype)
    params.flat += rng.normal(0, 0.3, params.count)
    return params


_TINY: dict[str, Any] = {"patch_size": 4, "width": 6, "mlp_width": 7, "heads": 2, "layers": 2, "classes": 3}
_TINIEST = _TINY | {"patch_size": 2, "width": 4, "mlp_width": 5, "layers": 1}
_TWO_BLOCKS = _TINIEST | {"layers": 2}  # for images of (4, 6): 2 x 3 patches
_GREY = {**_TINIEST, "channels": 1, "dropout": 0.2}  # with 8 colours instead of 512
_TURNED = _TINIEST | {"width": 8}  # heads of width 4, for rotary positions
_DINOV2: dict[str, Any] = {"registers": 2, "layer_scale": 0.1, "position_on": "patches", "pool": "both"}
_DINOV3: dict[str, Any] = {"registers": 1, "layer_scale": 0.1, "position": "none", "rotary": DINOV3}
_DINOV3 |= {"qkv_bias": "qv", "gated": True, "gelu": "silu", "pool": "mean", "class_token": True}
_EVA02: dict[str, Any] = {"rotary": Rotary(1e4, 16), "gated": True, "gelu": "silu", "mlp_norm": True}
_EVA02 |= {"attention_norm": True, "final_norm": "pooled", "pool": "mean", "qkv_bias": "none"}
_CLIP: dict[str, Any] = {"pre_norm": True, "patch_bias": False, "head_bias": False, "gelu": "quick"}
_PERCEPTION: dict[str, Any] = {"rotary": Rotary(1e4, 32, 1, columns_first=True), "pre_norm": True}
_PERCEPTION |= {"pool": "attention", "pool_all": True, "class_token": True, "patch_bias": False}
_NORMED: dict[str, Any] = {"qk_norm": True, "rotary": Rotary(learned=True), "position_on": "all"}
_NORMED |= {"registers": 2, "final_norm": "none", "pool": "mean"}
_RESNET: dict[str, Any] = {"resnet_width": 2, "resnet_groups": 1}

MODEL_CHECKS = (
    ModelCheck("ViT, class token", ViTConfig((8, 8), **_TINY)),
    ModelCheck("ViT, mean pooling, exact GELU", ViTConfig((8, 4), **_TINY, pool="mean", gelu="exact")),
    ModelCheck("ViT, pre_logits, three heads", ViTConfig((8, 8), **(_TINY | {"heads": 3}), pre_logits=5)),
    ModelCheck(
        "ViT, dropout, stochastic depth",
        ViTConfig((4, 8), **_TINY, dropout=0.2, attention_dropout=0.2, drop_path=0.5),
        training=True,
    ),
    ModelCheck("ViT, no positions", ViTConfig((4, 6), **_TINIEST, position="none")),
    ModelCheck("ViT, 2-D positions", ViTConfig((4, 6), **_TINIEST, position="2d")),
    ModelCheck("ViT, sin-cos positions", ViTConfig((4, 6), **_TINIEST, position="sincos")),
    ModelCheck("ViT, positions in blocks", ViTConfig((4, 6), **_TWO_BLOCKS, position_at="blocks")),
    ModelCheck("ViT, shared positions", ViTConfig((4, 6), **_TWO_BLOCKS, position_at="shared")),
    ModelCheck("ViT, relative positions", ViTConfig((4, 6), **_TWO_BLOCKS, position="relative")),
    ModelCheck(
        "ViT, shared relative positions",
        ViTConfig((4, 6), **_TWO_BLOCKS, position="relative", position_at="shared"),
    ),
    ModelCheck(
        "ViT, relative, mean pooling",
        ViTConfig((4, 6), **_TWO_BLOCKS, position="relative", pool="mean", attention_dropout=0.2),
        training=True,
    ),
    ModelCheck("DINOv2 with registers", ViTConfig((4, 6), **_TWO_BLOCKS, **_DINOV2)),
    ModelCheck("registers without positions", ViTConfig((4, 6), **_TINIEST, registers=2)),
    ModelCheck("DINOv3", ViTConfig((4, 6), **_TURNED, **_DINOV3)),
    ModelCheck("EVA-02", ViTConfig((4, 6), **_TURNED, **_EVA02)),
    ModelCheck("CLIP", ViTConfig((4, 6), **_TINIEST, **_CLIP)),
    ModelCheck("SigLIP", ViTConfig((4, 6), **_TINIEST, pool="attention", pool_heads=1)),
    ModelCheck("Perception Encoder", ViTConfig((4, 6), **_TURNED, **_PERCEPTION)),
    ModelCheck("BEiT", ViTConfig((4, 6), **_TWO_BLOCKS, position="bias", pool="mean", class_token=True)),
    ModelCheck("DeiT, distilled", ViTConfig((4, 6), **_TINIEST, pool="distilled")),
    ModelCheck("norms of q and k, learned turns", ViTConfig((4, 6), **_TURNED, **_NORMED)),
    *(
        ModelCheck(
            f"masked patches, {target}",
            masked_patches.pretraining_config(ViTConfig((4, 8), **_GREY), target, 0.5),
            training=True,
            target=target,
        )
        for target in ("mean-colour", "pixels")
    ),
    ModelCheck("ViT, dropped patches", ViTConfig((4, 6), **_TWO_BLOCKS, patch_dropout=0.5), training=True),
    ModelCheck("ViT, merged patches", ViTConfig((8, 16), **_TWO_BLOCKS, merge_after=1)),
    ModelCheck("hybrid, root alone", ViTConfig((8, 16), **_TINIEST, **_RESNET, resnet=())),
    ModelCheck("hybrid, two stages", ViTConfig((9, 12), **_TINIEST, **_RESNET, resnet=(2, 1), channels=1)),
    ModelCheck(
        "ResNet",
        ViTConfig(
            (9, 12), 1, 16, 0, 0, 0, 3, pool="mean", position="none", **_RESNET, resnet=(1, 1), pre_logits=4
        ),
    ),
)
