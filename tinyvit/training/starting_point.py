"""The model as training begins: from scratch, or from weights that a run or somebody else left."""

from __future__ import annotations

from dataclasses import replace

from tinyvit.data import image_side
from tinyvit.model import initialise, preset, with_new_head
from tinyvit.pretrained.loading import Model, at_resolution
from tinyvit.runs.settings import Settings


def starting_model(settings: Settings, classes: int, weights: Model | None) -> Model:
    """A model from scratch; or, given the model of settings.weights, that one with a new head of zeros."""
    regularisation = {"dropout": settings.dropout, "drop_path": settings.drop_path}
    if weights is None:
        side = image_side(settings.dataset, settings.image_size)
        config = preset(settings.model, side, classes, pool=settings.pool, **regularisation)
        return config, initialise(config, settings.seed)
    resized = at_resolution(*weights, settings.resolution, settings.position_resize, settings.weights)
    config, params = with_new_head(*resized, classes)
    return replace(config, **regularisation), params
