"""Writing a folder that timm.create_model("local-dir:FOLDER", pretrained=True) opens."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tinyvit.data.photo_fit import PhotoFit, fit_for
from tinyvit.errors import UserError
from tinyvit.model import Params, ViTConfig
from tinyvit.weights.fitting import timm_share, write_instead
from tinyvit.weights.hugging_face import write_folder
from tinyvit.weights.preprocessing import TIMM_FITS
from tinyvit.weights.torch_names import to_timm

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
        "global_pool": {"token": "token", "mean": "avg", "attention": "map"}[config.pool],
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
