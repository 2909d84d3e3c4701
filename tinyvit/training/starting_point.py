"""The model that training starts from: a fresh one, or the weights of a run or a published model."""

from dataclasses import replace
from typing import Any

import numpy as np

from tinyvit.data import image_side, to_input
from tinyvit.data.dataset import Rows
from tinyvit.model import Model, Params, ViTConfig, initialise, is_resnet, preset
from tinyvit.model.initialise import check_mimetic
from tinyvit.model.whitening import check_whitening, whiten
from tinyvit.objectives.masked_patches import pretraining_config
from tinyvit.support.errors import UserError
from tinyvit.training.learning import Stages, learning_rates
from tinyvit.training.settings import Settings

SHAPE = (
    "layers",
    "width",
    "mlp_width",
    "heads",
    "merge_after",
)  # settings that replace numbers of the named model


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


def check_start(settings: Settings, weights: Model | None) -> None:
    """Raise UserError if there can be no starting model with these settings, whatever the data are."""
    if weights is not None:
        if settings.whiten or settings.init != "official":
            raise UserError(
                "the weights to start from have been trained, and first values would overwrite them: omit "
                "--init and --whiten."
            )
        learning_rates(settings, _from_weights(settings, 1, weights).config)
        return
    if settings.dataset == "arrays" and settings.image_size is None:
        return  # only the file knows the size of the images
    config = _fresh_config(settings, image_side(settings.dataset, settings.image_size), 1)
    learning_rates(settings, config)
    Stages(settings, config)
    if settings.init == "mimetic":
        check_mimetic(config)
    if settings.whiten:
        check_whitening(config)


def starting_model(
    settings: Settings, classes: int, weights: Model | None, images: np.ndarray | Rows
) -> Model:
    """A fresh model or, given the model of settings.weights, that model with a new head of zeros.

    A model that is to learn without labels predicts patches, however many classes there are. images are those
    to train on, uint8 (n, H, W, 3), for first values that depend on them.
    """
    if weights is not None:
        return _from_weights(settings, classes, weights)
    config = _fresh_config(settings, images.shape[1], classes)
    params = initialise(config, settings.seed, init=settings.init)
    if settings.whiten:
        whiten_for(config, params, images, settings.seed)
    return Model(config, params)


def _fresh_config(settings: Settings, side: int, classes: int) -> ViTConfig:
    config = fresh_config(settings, side, classes)
    return pretraining_config(config, settings.target, settings.corrupt) if settings.target else config


def _from_weights(settings: Settings, classes: int, weights: Model) -> Model:
    from tinyvit.weights.resize import at_resolution  # here, as a model from scratch needs nothing of it

    regularisation: dict[str, Any] = {"dropout": settings.dropout, "drop_path": settings.drop_path}
    model = at_resolution(weights, settings.resolution, settings.position_resize).with_new_head(classes)
    return replace(model, config=replace(model.config, **regularisation))


_SAMPLE = 5_000  # images: hundreds of thousands of patches, for a covariance of a few thousand numbers
_AT_A_TIME = 100


def whiten_for(config: ViTConfig, params: Params, images: np.ndarray | Rows, seed: int) -> None:
    """Give the patch embedding whitened first values (see model.whitening), for images uint8 (n, H, W, 3).

    They are computed from 5,000 of the images, which the seed chooses, or from all if there are fewer.
    Raises UserError if the model cuts no patches from images, or if all patches are the same.
    """
    rng = np.random.Generator(np.random.Philox(seed).jumped(2))
    chosen = np.sort(rng.permutation(len(images))[:_SAMPLE])
    pieces = (np.asarray(images[chosen[i : i + _AT_A_TIME]]) for i in range(0, len(chosen), _AT_A_TIME))
    dtype = np.dtype(np.float64)
    whiten(config, params, (to_input(piece, dtype, config.image_size) for piece in pieces))
