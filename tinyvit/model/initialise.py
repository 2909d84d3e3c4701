"""Names, shapes and first values of a ViT's parameters, as the official code draws them."""

from __future__ import annotations

import math

import numpy as np

from tinyvit.model.config import ViTConfig
from tinyvit.model.params import Params, Shapes


def parameter_shapes(config: ViTConfig) -> Shapes:
    """Name -> shape of every parameter, in the order of the forward pass; matrices input-by-output."""
    D, M, C = config.width, config.mlp_width, config.classes
    shapes: Shapes = {
        "patch.weight": (config.patch_size**2 * config.channels, D),
        "patch.bias": (D,),
    }
    if config.has_token:
        shapes["class_token"] = (D,)
    shapes["position"] = (config.tokens, D)
    for i in range(config.layers):
        shapes |= {
            f"blocks.{i}.norm1.weight": (D,),
            f"blocks.{i}.norm1.bias": (D,),
            f"blocks.{i}.attn.qkv.weight": (D, 3 * D),
            f"blocks.{i}.attn.qkv.bias": (3 * D,),
            f"blocks.{i}.attn.out.weight": (D, D),
            f"blocks.{i}.attn.out.bias": (D,),
            f"blocks.{i}.norm2.weight": (D,),
            f"blocks.{i}.norm2.bias": (D,),
            f"blocks.{i}.mlp.fc1.weight": (D, M),
            f"blocks.{i}.mlp.fc1.bias": (M,),
            f"blocks.{i}.mlp.fc2.weight": (M, D),
            f"blocks.{i}.mlp.fc2.bias": (D,),
        }
    shapes |= {"norm.weight": (D,), "norm.bias": (D,)}
    if config.pre_logits:
        shapes |= {"pre_logits.weight": (D, config.pre_logits), "pre_logits.bias": (config.pre_logits,)}
    features = config.pre_logits or D
    return shapes | {"head.weight": (features, C), "head.bias": (C,)}


def initialise(config: ViTConfig, seed: int = 0, dtype: str = "float32") -> Params:
    """Fresh parameters, the same for the same seed on every machine.

    Patch embedding and pre_logits: LeCun normal. Class token, biases, head: zeros. Position embedding: N(0,
    0.02). q, k, v and output matrices: Xavier-uniform, each as its own D x D. MLP: Xavier-uniform, its
    biases N(0, 1e-6). LayerNorm: gain 1, offset 0.
    """
    rng = np.random.Generator(np.random.Philox(seed))
    params = Params.zeros(parameter_shapes(config), dtype)
    for name, shape in params.shapes.items():
        if name in ("patch.weight", "pre_logits.weight"):
            params[name] = lecun_normal(rng, shape)
        elif name == "position":
            params[name] = rng.normal(0, 0.02, shape)
        elif name.endswith("qkv.weight"):
            D = shape[0]
            params[name] = np.concatenate([xavier_uniform(rng, (D, D)) for _ in range(3)], axis=1)
        elif name.endswith(("out.weight", "fc1.weight", "fc2.weight")):
            params[name] = xavier_uniform(rng, shape)
        elif name.endswith(("fc1.bias", "fc2.bias")):
            params[name] = rng.normal(0, 1e-6, shape)
        elif name.endswith(("norm1.weight", "norm2.weight")) or name == "norm.weight":
            params[name] = np.ones(shape)
    return params


def xavier_uniform(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Uniform with variance 2 / (inputs + outputs) (Glorot and Bengio 2010): keeps sizes both ways."""
    limit = math.sqrt(6 / (shape[0] + shape[1]))
    return rng.uniform(-limit, limit, shape)


def lecun_normal(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Normal, cut off at two standard deviations, with variance 1 / inputs after the cut."""
    draw = rng.standard_normal(shape)
    while (far := np.abs(draw) > 2).any():
        draw[far] = rng.standard_normal(far.sum())
    return draw / (0.8796256610342398 * math.sqrt(shape[0]))  # standard deviation of a normal cut at 2
