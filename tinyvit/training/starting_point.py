"""The model that training starts from: a fresh one, or the weights of a run or a published model."""

from __future__ import annotations

from dataclasses import replace

from tinyvit.data import image_side
from tinyvit.errors import UserError
from tinyvit.model import Model, ViTConfig, initialise, is_resnet, preset
from tinyvit.objectives.patch_targets import pretraining_config
from tinyvit.pretrained.loading import at_resolution
from tinyvit.runs.settings import Settings

SHAPE = ("layers", "width", "mlp_width", "heads")  # settings that replace numbers of the named model


def fresh_config(settings: Settings, side: int, classes: int) -> ViTConfig:
    """The model that the settings name, for images of side x side pixels."""
    shape = {name: getattr(settings, name) for name in SHAPE if getattr(settings, name) is not None}
    if shape and is_resnet(settings.model):
        flag = "--" + next(iter(shape)).replace("_", "-")
        raise UserError(f"{settings.model} is a ResNet, which has no blocks of that shape: omit {flag}.")
    return preset(
        settings.model,
        side,
        classes,
        pool=settings.pool,
        position=settings.position,
        position_at=settings.position_at,
        dropout=settings.dropout,
        drop_path=settings.drop_path,
        **shape,
    )


def starting_model(settings: Settings, classes: int, weights: Model | None) -> Model:
    """A fresh model or, given the model of settings.weights, that model with a new head of zeros.

    A model that is to learn without labels predicts patches, however many classes there are.
    """
    if weights is None:
        config = fresh_config(settings, image_side(settings.dataset, settings.image_size), classes)
        if settings.target:
            config = pretraining_config(config, settings.target, settings.corrupt)
        return Model(config, initialise(config, settings.seed))
    regularisation = {"dropout": settings.dropout, "drop_path": settings.drop_path}
    model = at_resolution(weights, settings.resolution, settings.position_resize).with_new_head(classes)
    return replace(model, config=replace(model.config, **regularisation))
