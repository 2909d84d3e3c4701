"""Models rewritten, without changing what they compute, for other libraries and other scales of pixels.

Other libraries have fewer parts:

LayerScale       (x W + b) * g  =  x (W * g) + b * g
biases           missing ones become zeros
positions        one table (N, D) at the stem; a class token's own row can be added to the token

tinyvit gives every model pixels x from -1 to 1. With u from 0 to 1, x = 2 u - 1, and a model trained on
(u - mean) / std, with a mean and a std for each channel, expects

    (u - mean) / std = x (0.5 / std) + (0.5 - mean) / std

The rows of the patch matrix are therefore multiplied by 0.5 / std of their channel, and the second term is
absorbed into the bias.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tinyvit.model import Params, ViTConfig, layout
from tinyvit.model.later.biases import attention_weights
from tinyvit.model.later.positions import position_table
from tinyvit.support.errors import UserError


def with_one_table(config: ViTConfig, params: Params) -> tuple[ViTConfig, Params]:
    """The same model with position '1d' at the stem: its logits are the same.

    A model without positions gets a table of zeros. Positions in the blocks are no such table: see fitting.
    """
    if (config.position, config.position_at) == ("1d", "stem"):
        return config, params
    table = position_table(config, params)
    new = replace(config, position="1d", position_at="stem", position_on="class")
    result = params.copy_to(layout(new), exclude="position")
    if table is not None:
        result["position"] = np.concatenate([table[: config.num_special_tokens], table[config.prefix :]])
    return new, result


def with_all_biases(config: ViTConfig, params: Params) -> tuple[ViTConfig, Params]:
    """The same model with biases of queries, keys and values: zeros where it has none."""
    if config.qkv_bias == "all":
        return config, params
    new = replace(config, qkv_bias="all")
    biases = {f"blocks.{i}.attn.qkv.bias": f"blocks.{i}" for i in range(config.layers)}
    result = params.copy_to(layout(new), exclude=tuple(biases))
    for name, part in biases.items():
        _, result[name], _, _ = attention_weights(config, params, part)
    return new, result


def without_scales(config: ViTConfig, params: Params) -> tuple[ViTConfig, Params]:
    """The same model with LayerScale multiplied into the matrix and bias before it."""
    if not config.layer_scale:
        return config, params
    new = replace(config, layer_scale=0.0)
    result = params.copy_to(layout(new), exclude=())
    for i in range(config.layers):
        for scale, layer in (("scale1", "attn.out"), ("scale2", "mlp.fc2")):
            for array in result.group(f"blocks.{i}.{layer}"):
                array *= params[f"blocks.{i}.{scale}"]
    return new, result


def with_row_of_token(config: ViTConfig, params: Params) -> tuple[ViTConfig, Params]:
    """The same model with positions for the class token too: zeros where it has none."""
    if config.position_on != "patches" or config.registers:
        return config, params
    new = replace(config, position_on="class")
    result = params.copy_to(layout(new), exclude="position")
    result["position"][config.num_special_tokens :] = params["position"]
    return new, result


def without_row_of_token(config: ViTConfig, params: Params) -> tuple[ViTConfig, Params]:
    """The same model with positions for the patches alone: the class token's is added to the class token."""
    if config.position_on != "class" or not config.has_token:
        return config, params
    new = replace(config, position_on="patches")
    result = params.copy_to(layout(new), exclude="position")
    result["class_token"] += params["position"][0]
    result["position"] = params["position"][1:]
    return new, result


OWN_PIXELS = {"pixel_mean": "0.5", "pixel_std": "0.5"}  # from -1 to 1, in the metadata of a file
_GREY = np.array([0.299, 0.587, 0.114])


class PixelScale(NamedTuple):
    """The mean and std of each channel, or one of each for all channels, for pixels from 0 to 1."""

    mean: tuple[float, ...]
    std: tuple[float, ...]


IMAGENET_PIXELS = PixelScale((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
CLIP_PIXELS = PixelScale((0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711))
HALF_PIXELS = PixelScale((0.5,), (0.5,))


def adapt_to_pixel_scale(
    config: ViTConfig, params: Params, scale: PixelScale, source: str
) -> tuple[ViTConfig, Params]:
    """The model, which expects that scale, with its patch embedding adapted in place to pixels from -1 to 1.

    A patch embedding without a bias gets one. Raises UserError, naming the source, if the scale is for images
    with another number of channels, or if a ResNet reads them: standardising its first kernel would undo the
    adaptation.
    """
    mean, std = (_one_each(numbers, config.channels, source) for numbers in scale)
    if (mean == 0.5).all() and (std == 0.5).all():  # the scale is already -1 to 1
        return config, params
    if not config.patch_bias:
        config = replace(config, patch_bias=True)
        params = params.copy_to(layout(config), exclude="patch.bias")
    if config.has_resnet:
        raise UserError(
            f"{source} contains a hybrid that expects pixels with mean {scale.mean} and std {scale.std}, and "
            "tinyvit's, from -1 to 1, cannot be adapted to its ResNet: choose another checkpoint."
        )
    weight = params["patch.weight"].astype(np.float64)
    weight = weight.reshape(-1, config.channels, config.width)  # (P P, 3, D)
    shift = weight * ((0.5 - mean) / std)[:, None]
    params["patch.bias"] = params["patch.bias"] + shift.sum(axis=(0, 1))
    params["patch.weight"] = (weight * (0.5 / std)[:, None]).reshape(params.shapes["patch.weight"])
    return config, params


def for_colour(config: ViTConfig, params: Params) -> tuple[ViTConfig, Params]:
    """Convert a model for grey images to one for colour images that gives the same results for their greys.

    The grey value of a pixel is .299 red + .587 green + .114 blue, as in Pillow, so each row of the patch
    matrix becomes three, with these weights. A model for colour images is returned unchanged. Raises
    ValueError for any other number of channels, and UserError for a hybrid or a ResNet.
    """
    if config.channels == 3:
        return config, params
    if config.channels != 1:
        raise ValueError(f"{config.channels} channels are neither grey nor colour")
    if config.has_resnet:  # standardising the kernel of its root would undo the weights
        raise UserError(
            "a hybrid or ResNet for grey images cannot read colour photos: choose another checkpoint."
        )
    colour = replace(config, channels=3)
    result = params.copy_to(layout(colour), exclude="patch.weight")
    weight = params["patch.weight"].astype(np.float64)  # (P P, D)
    result["patch.weight"] = (weight[:, None] * _GREY[:, None]).reshape(-1, config.width)  # (P P 3, D)
    return colour, result


def _one_each(numbers: tuple[float, ...], channels: int, source: str) -> np.ndarray:
    """One number for each channel, if that many are stated or all stated numbers are equal."""
    if len(numbers) == channels:
        return np.array(numbers)
    if len(set(numbers)) == 1:
        return np.full(channels, numbers[0])
    raise UserError(
        f"{source} contains a model for {channels}-channel images, but the files beside it state the pixel "
        f"scale of {len(numbers)} channels: correct their mean and std."
    )
