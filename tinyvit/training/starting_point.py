"""The model that training starts from: a fresh one, or the weights of a run or a published model."""

from __future__ import annotations

from dataclasses import replace

from tinyvit.data import image_side
from tinyvit.model import Model, initialise, preset
from tinyvit.pretrained.loading import at_resolution
from tinyvit.runs.settings import Settings

SHAPE = ("layers", "width", "mlp_width", "heads")  # settings that replace numbers of the named model


def starting_model(settings: Settings, classes: int, weights: Model | None) -> Model:
    """A fresh model or, given the model of settings.weights, that model with a new head of zeros."""
    regularisation = {"dropout": settings.dropout, "drop_path": settings.drop_path}
    if weights is None:
        side = image_side(settings.dataset, settings.image_size)
        shape = {name: getattr(settings, name) for name in SHAPE if getattr(settings, name) is not None}
        config = preset(settings.model, side, classes, pool=settings.pool, **regularisation, **shape)
        return Model(config, initialise(config, settings.seed))
    model = at_resolution(weights, settings.resolution, settings.position_resize).with_new_head(classes)
    return replace(model, config=replace(model.config, **regularisation))
