"""Writing a folder that Hugging Face's from_pretrained opens, or timm.create_model("local-dir:FOLDER")."""

import json
from collections.abc import Sequence
from operator import methodcaller
from pathlib import Path
from typing import Any

import numpy as np

from tinyvit.data.photos import PhotoFit, fit_for
from tinyvit.model import Params, ViTConfig
from tinyvit.support.errors import UserError
from tinyvit.support.files.atomic import replaced_folder, write_atomically
from tinyvit.weights.description import TIMM_POOLS
from tinyvit.weights.fitting import photos_unfit_for_hugging_face, timm_share, write_instead
from tinyvit.weights.preprocessing import FILTERS, TIMM_FITS
from tinyvit.weights.safetensors import write_safetensors
from tinyvit.weights.torch_names import to_hugging_face, to_timm


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
        with replaced_folder(folder) as beside:
            try:
                write_safetensors(beside / "model.safetensors", arrays, {"format": "pt"})
                for name, described in files.items():
                    content = f"{json.dumps(described, indent=2)}\n".encode()
                    write_atomically(beside / name, methodcaller("write", content))
            except UserError as error:  # which knows the folder only by its temporary name
                raise UserError(str(error).replace(str(beside), str(folder))) from error
    except OSError as error:
        raise UserError(f"cannot create the folder {folder}: {error.strerror}. Choose another.") from error


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


_ACTIVATIONS = {"exact": "gelu", "tanh": "gelu_tanh", "quick": "quick_gelu", "silu": "silu", "relu": "relu"}


def save_timm(
    folder: Path, config: ViTConfig, params: Params, classes: Sequence[str], fit: PhotoFit | None = None
) -> None:
    """Create a folder that timm opens: the weights, and the arguments that make a ViT of timm's this one.

    fit is how photos become images for the model, and timm then fits them likewise, but with its own rounding
    (see PhotoFit). Raises UserError if timm does not support such a model or fit, or if the folder cannot be
    created.
    """
    arrays, photos = to_timm(config, params), _photos(config, fit_for(config.image_size, fit))
    ratio = config.mlp_width / config.width
    if int(ratio * config.width) < config.mlp_width:  # timm multiplies again, and rounds down
        ratio = (config.mlp_width + 0.5) / config.width
    arguments = {
        "img_size": config.image_size,
        "patch_size": config.patch_size,
        "in_chans": config.channels,
        "num_classes": config.classes,
        "embed_dim": config.width,
        "depth": config.layers,
        "num_heads": config.heads,
        "mlp_ratio": ratio,
        "act_layer": _ACTIVATIONS[config.gelu],
        "global_pool": next(theirs for theirs, ours in TIMM_POOLS.items() if ours == config.pool),
        "class_token": config.has_token,
        "reg_tokens": config.registers,
        "no_embed_class": arrays["pos_embed"].shape[1] == config.patches,
        "init_values": config.layer_scale or None,
        "qk_norm": config.qk_norm,
        "pool_include_prefix": config.pool_all,
        "final_norm": config.final_norm != "none",
        "fc_norm": config.final_norm == "pooled",
    }
    description = {
        "architecture": "vit_base_patch16_224",  # all of whose dimensions are replaced
        "num_classes": config.classes,
        "label_names": list(classes),
        "model_args": arguments,
        "pretrained_cfg": photos | {"first_conv": "patch_embed.proj", "classifier": "head"},
    }
    write_folder(folder, arrays, {"config.json": description})


def _photos(config: ViTConfig, fit: PhotoFit) -> dict[str, Any]:
    """timm's words for how photos are fitted, and for pixels from -1 to 1."""
    share = timm_share(fit)
    if share is None:
        raise UserError(
            f"timm cannot fit photos as this model expects: {fit.fit}, to {fit.frame} with a border of "
            f"{fit.border}, of which {fit.size} is cut out beside an edge of {fit.edge}. Instead, "
            f"{write_instead(config, fit)}"
        )
    return {
        "input_size": (config.channels, *fit.size),
        "fixed_input_size": True,
        "interpolation": fit.resample,
        "crop_pct": share,
        "crop_mode": next(theirs for theirs, ours in TIMM_FITS.items() if ours == fit.fit),
        "mean": [0.5] * config.channels,
        "std": [0.5] * config.channels,
    }
