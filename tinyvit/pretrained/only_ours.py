"""Models that the layouts of other libraries cannot hold."""

from __future__ import annotations

from tinyvit.errors import UserError
from tinyvit.model import ViTConfig

GROUPS = 32  # of GroupNorm, in every ResNet of the official code and of timm


def check_others_have_it(config: ViTConfig) -> None:
    """Raise UserError for a model that fits no layout but tinyvit's own."""
    if not config.has_transformer:
        what = "a ResNet without a Transformer fits"
    elif config.has_resnet and config.resnet_groups != GROUPS:
        what = f"a hybrid with {config.resnet_groups} groups in its GroupNorms, not {GROUPS}, fits"
    elif config.position_at not in ("stem", None):
        what = f"position {config.position!r} at {config.position_at!r} fits"
    else:
        return
    raise UserError(
        f"{what} no layout of other programs: only tinyvit's own, that of best.npz in a run, holds it."
    )
