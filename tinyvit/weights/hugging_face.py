"""Writing a folder that Hugging Face's from_pretrained opens: the weights, and two files describing them."""

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from tinyvit.data.photo_fit import PhotoFit, fit_for
from tinyvit.errors import UserError
from tinyvit.files.atomic import replaced_folder, write_atomically
from tinyvit.model import Params, ViTConfig
from tinyvit.weights.fitting import photos_unfit_for_hugging_face, write_instead
from tinyvit.weights.preprocessing import FILTERS
from tinyvit.weights.replacing import check_replaceable
from tinyvit.weights.safetensors import write_safetensors
from tinyvit.weights.torch_names import to_hugging_face


def save_hugging_face(
    folder: Path, config: ViTConfig, params: Params, classes: Sequence[str], fit: PhotoFit | None = None
) -> None:
    """Create a folder that Hugging Face's from_pretrained opens: the weights, and two files describing them.

    fit is how photos become images for the model; without it, they are scaled to cover the image, and the
    centre is cut out. Raises UserError if Hugging Face does not support such a model or fit, or if the folder
    cannot be created.
    """
    arrays = to_hugging_face(config, params)
    fit = fit_for(config.image_size, fit)
    if why := photos_unfit_for_hugging_face(fit):
        raise UserError(f"photos for this model {why}. Instead, {write_instead(config, fit)}")
    files = {
        "config.json": _description(config, classes),
        "preprocessor_config.json": _preprocessing(config, fit),
    }
    write_folder(folder, arrays, files)


def write_folder(folder: Path, arrays: dict[str, np.ndarray], files: dict[str, dict[str, Any]]) -> None:
    """Create a folder with model.safetensors and files of JSON. Raises UserError if it cannot be created."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        check_replaceable(folder)
        with replaced_folder(folder) as beside:
            try:
                write_safetensors(beside / "model.safetensors", arrays, {"format": "pt"})
                for name, content in files.items():
                    text = json.dumps(content, indent=2) + "\n"
                    write_atomically(beside / name, partial(_write_text, text=text))
            except UserError as error:  # which knows the folder only by its temporary name
                raise UserError(str(error).replace(str(beside), str(folder))) from error
    except OSError as error:
        raise UserError(f"cannot create the folder {folder}: {error.strerror}. Choose another.") from error


def _write_text(file: BinaryIO, text: str) -> None:
    file.write(text.encode())


def _description(config: ViTConfig, classes: Sequence[str]) -> dict[str, Any]:
    """The contents of a config.json for which Hugging Face's ViTForImageClassification computes the same."""
    height, width = config.image_size
    return {
        "architectures": ["ViTForImageClassification"],
        "model_type": "vit",
        "image_size": height if height == width else [height, width],
        "patch_size": config.patch_size,
        "num_channels": config.channels,
        "hidden_size": config.width,
        "intermediate_size": config.mlp_width,
        "num_attention_heads": config.heads,
        "num_hidden_layers": config.layers,
        "hidden_act": {"exact": "gelu", "tanh": "gelu_pytorch_tanh"}[config.gelu],
        "layer_norm_eps": config.eps,
        "qkv_bias": True,
        "id2label": {str(c): name for c, name in enumerate(classes)},
        "label2id": {name: c for c, name in enumerate(classes)},
    }


def _preprocessing(config: ViTConfig, fit: PhotoFit) -> dict[str, Any]:
    """The contents of a preprocessor_config.json: how photos are resized, and pixels scaled to -1..1."""
    (height, width), frame = fit.size, fit.frame
    size = {"shortest_edge": frame[0]} if fit.fit == "crop" else {"height": frame[0], "width": frame[1]}
    return {
        "image_processor_type": "BitImageProcessor",  # the one that resizes and then crops
        "do_convert_rgb": True,
        "do_resize": True,
        "size": size,
        "resample": FILTERS.index(fit.resample),
        "do_center_crop": True,
        "crop_size": {"height": height, "width": width},
        "do_rescale": True,
        "rescale_factor": 1 / 255,
        "do_normalize": True,
        "image_mean": [0.5] * config.channels,
        "image_std": [0.5] * config.channels,
    }
