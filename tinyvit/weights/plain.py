"""Models rewritten, without changing what they compute, in the fewer parts that other libraries have.

LayerScale       (x W + b) * g  =  x (W * g) + b * g
biases           missing ones become zeros
positions        one table (N, D) at the stem; a class token's own row can be added to the token
"""

from dataclasses import replace

import numpy as np

from tinyvit.model import Params, ViTConfig, layout
from tinyvit.model.later.biases import attention_weights
from tinyvit.model.later.positions import position_table


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
