"""Saving models in any layout, which is given explicitly or follows from the file name."""

from __future__ import annotations

import os
from pathlib import Path

from tinyvit.data.photo_fit import PhotoFit
from tinyvit.errors import UserError
from tinyvit.model import Model
from tinyvit.pretrained.fitting import has_square_images, write_instead
from tinyvit.pretrained.hugging_face import save_hugging_face
from tinyvit.pretrained.load import save_official, save_safetensors
from tinyvit.pretrained.onnx_file import save_onnx
from tinyvit.runs.checkpoint import Checkpoint, save_checkpoint

LAYOUTS = {  # and their endings
    "tinyvit": ".npz", "official": ".npz", "torch": ".safetensors", "onnx": ".onnx", "hugging_face": "",
}  # fmt: skip
_BY_ENDING = {".npz": "tinyvit", ".safetensors": "torch", ".onnx": "onnx", "": "hugging_face"}


def save_model(model: Model, path: Path, layout: str | None = None, fit: PhotoFit | None = None) -> None:
    """Write a model, without ever overwriting anything.

    layout 'tinyvit' is the default for .npz and stores any model with its class names; 'official' is the
    layout of the official .npz files; 'torch' is .safetensors with timm's names, or Hugging Face's if the
    model has their epsilon; 'onnx' is a file that other programs run, but tinyvit does not read; and
    'hugging_face' is a folder that from_pretrained opens. 'official' and 'torch' drop the names of the
    classes, and fit, which describes how photos become images for the model. For images that are not square,
    Hugging Face's processors cannot cut out the same part of a photo: they cut out a smaller one. Raises
    UserError if path exists or does not have the ending of the layout, if the layout cannot represent the
    model, or if the model does not have as many names as classes.
    """
    check_free(path)
    layout = _BY_ENDING[path.suffix.lower()] if layout is None else layout
    if not isinstance(layout, str) or layout not in LAYOUTS:
        raise UserError(f"there is no layout {layout!r}: expected one of {', '.join(LAYOUTS)}.")
    if path.suffix.lower() != LAYOUTS[layout]:
        kind = f"a file that ends in {LAYOUTS[layout]}" if LAYOUTS[layout] else "a folder, without an ending"
        raise UserError(f"{path} does not suit the layout {layout}, which is {kind}: change one of them.")
    config, params = model.config, model.params
    _check_names(model)
    if config.predicts_patches and layout != "tinyvit":
        raise UserError(
            f"the layout {layout} has no place for a model that predicts patches: fine-tune it first, or "
            "choose the layout tinyvit."
        )
    if layout == "tinyvit":
        whole = Checkpoint(
            config, params, classes=model.classes, position_resize=model.position_resize, photo_fit=fit
        )
        save_checkpoint(path, whole)
    elif layout == "official":
        if not has_square_images(config):
            height, width = config.image_size
            raise UserError(
                f"the official layout does not state that images are {height} x {width} pixels: its readers "
                f"take them for square ones. Instead, {write_instead(config)}"
            )
        save_official(path, config, params)
    elif layout == "torch":
        save_safetensors(path, config, params)
    elif layout == "onnx":
        save_onnx(path, config, params, model.names, fit)
    else:
        save_hugging_face(path, config, params, model.names, fit)


def _check_names(model: Model) -> None:
    """Raise UserError if somebody has given a model names that are not one text for each class."""
    names, count = list(model.classes or ()), model.config.classes
    if names and len(names) != count:
        raise UserError(
            f"the number of class names is {len(names)}, expected {count}, one for each class: set "
            "model.classes again, or to () for none."
        )
    if unfit := [name for name in names if not isinstance(name, str)]:
        raise UserError(f"a class is called {unfit[0]!r}, expected text: set model.classes to texts.")


def check_free(path: Path, more: str = "") -> None:
    """Raise UserError unless a model can be written under that name; more is what else its ending may be."""
    check_new(path)
    if path.suffix.lower() not in _BY_ENDING:
        raise UserError(
            f"{path} ends in {path.suffix}: expected .npz, .safetensors, .onnx,{more} or no ending for a "
            "folder."
        )


def check_new(path: Path) -> None:
    """Raise UserError if there is already something of that name, even a link that leads nowhere."""
    if os.path.lexists(path):
        raise UserError(f"{path} already exists and will not be overwritten: choose another name.")
