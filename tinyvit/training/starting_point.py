"""The model that training starts from: a fresh one, or the weights of a run or a published model."""

from __future__ import annotations

from dataclasses import replace

from tinyvit.data import image_side
from tinyvit.model import Model, initialise, preset
from tinyvit.pretrained.loading import at_resolution
from tinyvit.runs.settings import Settings


def starting_model(settings: Settings, classes: int, weights: Model | None) -> Model:
    """A fresh model or, given the model of settings.weights, that model with a new head of zeros."""
    regularisation = {"dropout": settings.dropout, "drop_path": settings.drop_path}
    if weights is None:
        side = image_side(settings.dataset, settings.image_size)
        parts = {
            "pool": settings.pool,
            "position": settings.position,
            "position_at": settings.position_at,
        }
        config = preset(settings.model, side, classes, **parts, **regularisation)
        return Model(config, initialise(config, settings.seed))
    model = at_resolution(weights, settings.resolution, settings.position_resize).with_new_head(classes)
    return replace(model, config=replace(model.config, **regularisation))
