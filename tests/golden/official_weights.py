"""Random weights in the layout of the official .npz checkpoints, drawn from a seed, and as tinyvit's Params.

official_flax.npz beside this file holds, for each of the MODELS, the logits float32 (2, classes) that the
official code (google-research/vision_transformer: flax, float32, on a CPU) gave for just these weights and
images; official_flax_hybrids.npz holds those for the HYBRIDS. The draws are part of the contract: one
standard_normal for each array, in the order of the sorted names, then the images.
"""

from math import prod
from pathlib import Path

import numpy as np

from tinyvit.model import Params, ViTConfig, layout, preset

SEED = 2010_11929
ANSWERS = Path(__file__).with_name("official_flax.npz")
HYBRID_ANSWERS = Path(__file__).with_name("official_flax_hybrids.npz")

# image size, patch size, width, MLP width, heads, layers, classes
MODELS = {
    "odd": ViTConfig(42, 7, 40, 90, 5, 3, 13),
    "rep": ViTConfig(40, 8, 36, 72, 3, 2, 6, pre_logits=28),
    "gap": ViTConfig(32, 4, 32, 64, 2, 2, 10, pool="mean"),
    "ti16": ViTConfig(224, 16, 192, 768, 3, 12, 1000),
    "b32": ViTConfig(224, 32, 768, 3072, 12, 12, 1000),
}

HYBRIDS = {
    "odd width, two stages": ViTConfig(45, 1, 40, 90, 5, 2, 13, resnet=(1, 2), resnet_width=96),
    "root alone, pre_logits": ViTConfig(48, 3, 36, 72, 3, 2, 6, pre_logits=28, resnet=(), resnet_width=32),
    "R26, mean": ViTConfig(96, 1, 48, 96, 4, 2, 10, pool="mean", resnet=(2, 2, 2, 2)),
    "R+Ti/16": preset("R+Ti/16", 224, 1000),
}


def official_names(config):
    """For every array of the checkpoint: its name, its shape there, its spread, and the parameter it fills.

    The spread is the standard deviation of the draw; the last entry (name in tinyvit, which third of it)
    has a third only for query, key and value, which tinyvit keeps side by side in one matrix.
    """
    D, M, H, P = config.width, config.mlp_width, config.heads, config.patch_size
    K = D // H
    rows = []

    def layer(name, ours, shape, inputs, bias, third=None):
        rows.append((f"{name}/kernel", shape, 1 / np.sqrt(inputs), (f"{ours}.weight", third)))
        rows.append((f"{name}/bias", bias, 0.1, (f"{ours}.bias", third)))

    def norm(name, ours):
        rows.append((f"{name}/scale", (D,), 0.1, (f"{ours}.weight", None)))
        rows.append((f"{name}/bias", (D,), 0.1, (f"{ours}.bias", None)))

    def convolution(kernel, group_norm, ours, which, shape):
        rows.append(
            (f"{kernel}/kernel", shape, 1 / np.sqrt(prod(shape[:-1])), (f"{ours}.conv{which}.weight", None))
        )
        rows.append((f"{group_norm}/scale", shape[-1:], 0.1, (f"{ours}.norm{which}.weight", None)))
        rows.append((f"{group_norm}/bias", shape[-1:], 0.1, (f"{ours}.norm{which}.bias", None)))

    channels = config.channels
    if config.resnet is not None:
        channels = config.resnet_width
        convolution("conv_root", "gn_root", "resnet.root", "", (7, 7, config.channels, channels))
        for i, units in enumerate(config.resnet):
            F = config.resnet_width * 2**i
            for j in range(units):
                kernels = {"1": (1, 1, channels, F), "2": (3, 3, F, F), "3": (1, 1, F, 4 * F)}
                if j == 0:
                    kernels["_proj"] = (1, 1, channels, 4 * F)
                unit = f"block{i + 1}/unit{j + 1}"
                for which, shape in kernels.items():
                    names = f"{unit}/conv{which}", f"{unit}/gn{which}"
                    convolution(*names, f"resnet.{i}.{j}", which, shape)
                channels = 4 * F
    layer("embedding", "patch", (P, P, channels, D), P * P * channels, (D,))
    if config.has_token:
        rows.append(("cls", (1, 1, D), 0.1, ("class_token", None)))
    rows.append(("Transformer/posembed_input/pos_embedding", (1, config.tokens, D), 0.1, ("position", None)))
    for i in range(config.layers):
        theirs, ours = f"Transformer/encoderblock_{i}", f"blocks.{i}"
        heads = f"{theirs}/MultiHeadDotProductAttention_1"
        norm(f"{theirs}/LayerNorm_0", f"{ours}.norm1")
        for third, name in enumerate(("query", "key", "value")):
            layer(f"{heads}/{name}", f"{ours}.attn.qkv", (D, H, K), D, (H, K), third)
        layer(f"{heads}/out", f"{ours}.attn.out", (H, K, D), D, (D,))
        norm(f"{theirs}/LayerNorm_2", f"{ours}.norm2")
        layer(f"{theirs}/MlpBlock_3/Dense_0", f"{ours}.mlp.fc1", (D, M), D, (M,))
        layer(f"{theirs}/MlpBlock_3/Dense_1", f"{ours}.mlp.fc2", (M, D), M, (D,))
    norm("Transformer/encoder_norm", "norm")
    features = D
    if config.pre_logits:
        features = config.pre_logits
        layer("pre_logits", "pre_logits", (D, features), D, (features,))
    layer("head", "head", (features, config.classes), features, (config.classes,))
    return sorted(rows)


def official(config):
    """The random checkpoint as tinyvit's Params, float32, and the two images it was tried on."""
    rng = np.random.default_rng(SEED)
    params = Params.zeros(layout(config))
    filled = 0
    for name, shape, spread, (ours, third) in official_names(config):
        draw = rng.standard_normal(shape) * spread
        if name.endswith("scale"):
            draw += 1
        whole = params[ours]
        part = whole if third is None else np.split(whole, 3, axis=-1)[third]  # a view
        part[...] = draw.reshape(part.shape)
        filled += prod(shape)
    assert filled == params.count
    images = rng.standard_normal((2, *config.image_size, config.channels)).astype("float32")
    return params, images
