"""The model that training starts from: a fresh one, or the weights of a run or a published model."""

from __future__ import annotations

from dataclasses import replace

from tinyvit.data import image_side
from tinyvit.model import Model, initialise, preset
from tinyvit.objectives.masked_patches import pretraining_config
from tinyvit.pretrained.loading import at_resolution
from tinyvit.runs.settings import Settings


def starting_model(settings: Settings, classes: int, weights: Model | None) -> Model:
    """A fresh model or, given the model of settings.weights, that model with a new head of zeros.

    A model that is to learn without labels predicts patches, however many classes there are.
    """
    regularisation = {"dropout": settings.dropout, "drop_path": settings.drop_path}
    if weights is None:
        side = image_side(settings.dataset, settings.image_size)
        config = preset(settings.model, side, classes, pool=settings.pool, **regularisation)
        if settings.target:
            config = pretraining_config(config, settings.target, settings.corrupt)
        return Model(config, initialise(config, settings.seed))
    model = at_resolution(weights, settings.resolution, settings.position_resize).with_new_head(classes)
    return replace(model, config=replace(model.config, **regularisation))
