"""Saving models in any layout, which is given explicitly or follows from the file name.

Nothing is written over but what an earlier save or export has left: see check_replaceable.
"""

import os
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import numpy as np

from tinyvit.data.photos import PhotoFit, fit_for
from tinyvit.model import Model, Params, ViTConfig
from tinyvit.support.errors import UserError
from tinyvit.support.files import open_regular
from tinyvit.support.files.atomic import write_atomically
from tinyvit.support.files.npz import add_seal, is_sealed
from tinyvit.weights import fitting
from tinyvit.weights.checkpoint import Checkpoint, is_checkpoint, load_checkpoint, save_checkpoint
from tinyvit.weights.description import imagenet_classes
from tinyvit.weights.equivalent import OWN_PIXELS
from tinyvit.weights.folders import save_hugging_face, save_timm
from tinyvit.weights.official import to_official
from tinyvit.weights.onnx_file import save_onnx
from tinyvit.weights.safetensors import write_safetensors
from tinyvit.weights.torch_names import to_torch_names

LAYOUTS = {  # and their endings
    "tinyvit": ".npz", "official": ".npz", "torch": ".safetensors", "onnx": ".onnx", "hugging_face": "",
    "timm": "",
}  # fmt: skip
_BY_ENDING = {".npz": "tinyvit", ".safetensors": "torch", ".onnx": "onnx", "": ""}
_FILES = {"model.safetensors", "config.json", "preprocessor_config.json"}  # of a folder
# What tinyvit writes near the start of a .safetensors, .onnx and .html file
_MARKS = b'"writer":"tinyvit"', b"\x12\x07tinyvit", b'<meta name="generator" content="tinyvit">'
_NEAR = 10_000  # bytes


def save_model(model: Model, path: Path, layout: str | None = None, fit: PhotoFit | None = None) -> list[str]:
    """Write a model, over nothing but what an earlier save has left (see check_replaceable).

    layout 'tinyvit' is the default for .npz and stores any model with its class names; 'official' is the
    layout of the official .npz files; 'torch' is .safetensors with timm's names, or Hugging Face's if the
    model has their epsilon; 'onnx' is a file that other programs run, but tinyvit does not read;
    'hugging_face' is a folder that from_pretrained opens, the default for a name without an ending; and
    'timm', the default if Hugging Face does not have such a model or fit, is a folder that timm's
    create_model opens. 'official' and 'torch' drop the names of the classes, and fit, which describes how
    photos become images for the model; all drop its text tower. Returns a sentence, without a full stop,
    for each of these that the model has and the file has not. Raises UserError if path is taken or does not
    have the ending of the layout, if the layout cannot represent the model, if the model does not have as
    many names as classes, or if its parameters are not floating-point numbers.
    """
    check_free(path)
    if layout is None:
        layout = _BY_ENDING[path.suffix.lower()] or folder_layout(model.config, fit)
    if not isinstance(layout, str) or layout not in LAYOUTS:
        raise UserError(f"there is no layout {layout!r}: expected one of {', '.join(LAYOUTS)}.")
    if path.suffix.lower() != LAYOUTS[layout]:
        kind = f"a file that ends in {LAYOUTS[layout]}" if LAYOUTS[layout] else "a folder, without an ending"
        raise UserError(f"{path} does not suit the layout {layout}, which is {kind}: change one of them.")
    config, params = model.config, model.params
    names = model.names
    if params.flat.dtype.kind != "f":
        raise UserError(
            f"the parameters are {params.flat.dtype}, expected floating-point numbers: "
            "params.astype('float32') makes them such."
        )
    holding = ("tinyvit", "onnx") if config.predicts == "embedding" else ("tinyvit",)
    if config.predicts != "image" and layout not in holding:
        what = "patches" if config.predicts_patches else "an embedding of the image"
        raise UserError(
            f"the layout {layout} has no place for a model that predicts {what}: fine-tune it first, or "
            "choose the layout tinyvit."
        )
    if layout == "tinyvit":
        whole = Checkpoint(
            config, params, classes=tuple(model.classes), position_resize=model.position_resize, photo_fit=fit
        )
        save_checkpoint(path, whole)
    elif layout == "official":
        fitting.check_others_have_it(config)
        height, width = config.image_size
        if height != width:
            raise UserError(
                f"the official layout does not state that images are {height} x {width} pixels: its readers "
                f"take them for square ones. Instead, {fitting.write_instead(config)}"
            )
        save_official(path, config, params)
    elif layout == "torch":
        save_safetensors(path, config, params)
    elif layout == "onnx":
        save_onnx(path, config, params, names, fit)
    else:
        (save_timm if layout == "timm" else save_hugging_face)(path, config, params, names, fit)
    return left_out(model, layout, fit)


def left_out(model: Model, layout: str, fit: PhotoFit | None) -> list[str]:
    """The properties that a file of that layout, or a 'page', cannot hold: sentences without a full stop."""
    if model.texts:
        return ["its text tower is not included: keep the files that it came from"]
    if layout not in ("official", "torch", "page"):
        return []
    usual = fit_for(model.config.image_size, None)
    fit, said = replace(fit_for(model.config.image_size, fit), library=usual.library), []
    instead = fitting.write_instead(model.config, fit)
    known = imagenet_classes() if layout == "official" else ()
    if layout != "page" and model.classes and tuple(model.classes) != known:
        said.append(
            f"the names of its {len(model.classes)} classes are not included, since this format has no place "
            f"for them: to keep them, {instead}"
        )
    if fit != usual:
        said.append(
            f"its way of fitting photos ({fit.fit}, {fit.resample}) is not included: to keep it, {instead}"
        )
    return [each.removesuffix(".") for each in said]


def folder_layout(config: ViTConfig, fit: PhotoFit | None) -> str:
    """The usual layout of a folder: 'hugging_face', unless only 'timm' can hold such a model or fit."""
    photos = fit_for(config.image_size, fit)
    others = fitting.fits_hugging_face(config) and not fitting.photos_unfit_for_hugging_face(photos)
    return "timm" if fitting.fits_timm(config) and not others else "hugging_face"


def save_official(path: Path, config: ViTConfig, params: Params) -> None:
    """Write parameters in the layout of the official .npz files, which other programs can read.

    Raises UserError if the model's arithmetic differs from that of the official code.
    """
    arrays = to_official(config, params)

    def write(file: BinaryIO) -> None:
        np.savez(file, **arrays)  # type: ignore[arg-type]
        add_seal(file)

    write_atomically(path, write)


def save_safetensors(path: Path, config: ViTConfig, params: Params) -> None:
    """Write parameters as safetensors, with timm's names, or Hugging Face's if the model has their epsilon.

    The metadata state what the arrays do not: heads, image_size, and pixel_mean and pixel_std, by which both
    libraries scale pixels from 0 to 1. Raises UserError if the model's arithmetic matches neither library.
    """
    height, width = config.image_size
    metadata = {"format": "pt", "heads": str(config.heads), "image_size": f"{height}x{width}"}
    write_safetensors(path, to_torch_names(config, params), metadata | OWN_PIXELS)


def check_free(path: Path, more: str = "") -> None:
    """Raise UserError unless a model can be written under that name; more is what else its ending may be."""
    check_replaceable(path)
    if path.suffix.lower() not in _BY_ENDING:
        raise UserError(
            f"{path} ends in {path.suffix}: expected .npz, .safetensors, .onnx,{more} or no ending for a "
            "folder."
        )


def check_replaceable(path: Path) -> None:
    """Raise UserError if there is anything of that name but a model or page that tinyvit has saved.

    Checkpoints of a run, which hold its progress, and links that lead nowhere are not replaced either.
    """
    if os.path.lexists(path) and not _is_saved(path):
        raise UserError(
            f"{path} already exists and will not be overwritten: only a model or page that tinyvit "
            "has saved or exported is, and no checkpoint of a run. Choose another name, or move it away."
        )


def _is_saved(path: Path) -> bool:
    try:
        if path.is_dir():
            return {file.name for file in path.iterdir()} <= _FILES and _is_saved(path / "model.safetensors")
        with open_regular(path) as file:
            start, sealed = file.read(_NEAR), is_sealed(file)
        if path.suffix.lower() != ".npz":
            return any(mark in start for mark in _MARKS)
        return sealed and not (is_checkpoint(path) and load_checkpoint(path).progress)
    except (OSError, UserError):
        return False
