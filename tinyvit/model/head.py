"""The same model with another head: a new one to be learned, or none to speak of."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tinyvit.model.config import ViTConfig
from tinyvit.model.initialise import parameter_shapes
from tinyvit.model.params import Params


def with_new_head(config: ViTConfig, params: Params, classes: int) -> tuple[ViTConfig, Params]:
    """The same model with a head of zeros for other classes, and without pre_logits (paper, section 3.2).

    Zero weights give every class the same score, so that the first step moves the head and not the features.
    """
    new = replace(config, classes=classes, pre_logits=0)
    return new, params.carried_over(parameter_shapes(new), without="head.")


def with_identity_head(config: ViTConfig, params: Params) -> tuple[ViTConfig, Params]:
    """The same model with the identity as its head: its logits are features, (B, D) or (B, pre_logits)."""
    bare = replace(config, classes=config.pre_logits or config.width)
    result = params.carried_over(parameter_shapes(bare), without="head.")
    result["head.weight"] = np.eye(bare.classes)
    return bare, result
