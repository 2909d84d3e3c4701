"""A ladder of models made of your parts alone, each of the functions of one lesson more.

Nothing of tinyvit fills a gap here. A rung can be trained as soon as all operations that it needs are yours.
All rungs see the same pictures; what they reach climbs from chance to nearly all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np

from lessons.mine import loop
from tinyvit.data import Dataset

PATCH, WIDTH, HIDDEN, HEADS, LAYERS, CLASSES = 4, 64, 128, 4, 3, 10
PICTURE, TOKENS = (32, 32, 3), (32 // PATCH) ** 2

Own = Mapping[str, Callable]
Report = Callable[[int, float], None]


@dataclass(frozen=True)
class Rung:
    """A model, the lesson after which it can be trained, and the operations that it is made of.

    train(own, data, epochs, report) trains it with the functions `own`, by name, and returns the accuracy on
    the test pictures.
    """

    name: str
    lesson: int
    needs: tuple[str, ...]
    train: Callable[[Own, Dataset, int, Report], float]


def matrix(rng: np.random.Generator, inputs: int, outputs: int) -> np.ndarray:
    """First values of a linear layer: the variance is 1 / fan-in (lesson 9)."""
    return rng.normal(0, inputs**-0.5, (inputs, outputs)).astype(np.float32)


def zeros(*shape: int) -> np.ndarray:
    """Zeros in float32."""
    return np.zeros(shape, np.float32)


# Lessons 3 and 4: a picture is one long row.


def linear_classifier(own: Own, data: Dataset, epochs: int, report: Report) -> float:
    """Scores straight from the pixels."""
    inputs = int(np.prod(PICTURE))

    def forward(params, images):
        return own["linear"](images.reshape(len(images), -1), params["weight"], params["bias"])

    def backward(dscores, cache):
        _, dweight, dbias = own["linear_backward"](dscores, cache)
        return {"weight": dweight, "bias": dbias}

    params = {"weight": zeros(inputs, CLASSES), "bias": zeros(CLASSES)}
    return _trained(own, data, epochs, report, forward, backward, params, rate=0.003)


def perceptron(own: Own, data: Dataset, epochs: int, report: Report) -> float:
    """One hidden layer between pixels and scores."""
    inputs, names = int(np.prod(PICTURE)), ("weight1", "bias1", "weight2", "bias2")

    def forward(params, images):
        return own["mlp"](images.reshape(len(images), -1), *(params[name] for name in names))

    def backward(dscores, cache):
        _, *gradients = own["mlp_backward"](dscores, cache)
        return dict(zip(names, gradients, strict=True))

    rng = np.random.default_rng(0)
    values = matrix(rng, inputs, HIDDEN), zeros(HIDDEN), matrix(rng, HIDDEN, CLASSES), zeros(CLASSES)
    return _trained(own, data, epochs, report, forward, backward, dict(zip(names, values, strict=True)), 0.01)


# Lessons 5, 6 and 7: a picture is a row of patches, and every part serves all of them.

MLP = ("fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias")
ATTENTION = ("qkv.weight", "qkv.bias", "out.weight", "out.bias")


def over_patches(attention: bool, norm: bool) -> Callable[[Own, Dataset, int, Report], float]:
    """Patches, positions, the parts that are asked for, the mean of all patches, and a linear layer."""

    def train(own, data, epochs, report):
        def forward(params, images):
            of = lambda *names: (params[name] for name in names)
            x, _ = own["patchify"](images, PATCH)  # (B, T, 3PP)
            x, patch = own["linear"](x, *of("patch.weight", "patch.bias"))  # (B, T, D)
            x = x + params["position"]
            norm1 = attended = norm2 = last = None
            if attention:
                n, norm1 = own["layer_norm"](x, *of("norm1.weight", "norm1.bias")) if norm else (x, None)
                found, attended = own["attention"](n, *of(*ATTENTION), HEADS)
                x = x + found
            n, norm2 = own["layer_norm"](x, *of("norm2.weight", "norm2.bias")) if norm else (x, None)
            found, hidden = own["mlp"](n, *of(*MLP))
            x = x + found
            if norm:
                x, last = own["layer_norm"](x, *of("norm.weight", "norm.bias"))
            scores, head = own["linear"](x.mean(axis=1), *of("head.weight", "head.bias"))  # (B, C)
            return scores, (patch, norm1, attended, norm2, hidden, last, head, x.shape)

        def backward(dscores, cache):
            patch, norm1, attended, norm2, hidden, last, head, shape = cache
            grads = {}

            def back(function, dy, kept, *names):
                dx, *gradients = own[function](dy, kept)
                grads.update(zip(names, gradients, strict=True))
                return dx

            dmean = back("linear_backward", dscores, head, "head.weight", "head.bias")
            dx = np.repeat(dmean[:, None] / shape[1], shape[1], axis=1)  # (B, T, D): the mean was a sum
            if norm:
                dx = back("layer_norm_backward", dx, last, "norm.weight", "norm.bias")
            dn = back("mlp_backward", dx, hidden, *MLP)
            dx = dx + (back("layer_norm_backward", dn, norm2, "norm2.weight", "norm2.bias") if norm else dn)
            if attention:
                dn = back("attention_backward", dx, attended, *ATTENTION)
                dx = dx + (
                    back("layer_norm_backward", dn, norm1, "norm1.weight", "norm1.bias") if norm else dn
                )
            dx, grads["position"] = own["position_embedding_backward"](dx, None)
            back("linear_backward", dx, patch, "patch.weight", "patch.bias")
            return grads

        params = token_params(np.random.default_rng(0), attention, norm)
        return _trained(own, data, epochs, report, forward, backward, params, rate=0.1)

    return train


def token_params(rng: np.random.Generator, attention: bool, norm: bool) -> loop.Parameters:
    """First values: gains 1, biases and head 0, matrices random."""
    # Normalised pixels are of size 1/2 or so: twice as large weights make tokens of size 1 (lesson 9).
    params = {"patch.weight": 2 * matrix(rng, 3 * PATCH * PATCH, WIDTH), "patch.bias": zeros(WIDTH)}
    params["position"] = rng.normal(0, 0.02, (TOKENS, WIDTH)).astype(np.float32)
    params |= {"fc1.weight": matrix(rng, WIDTH, HIDDEN), "fc1.bias": zeros(HIDDEN)}
    params |= {"fc2.weight": matrix(rng, HIDDEN, WIDTH), "fc2.bias": zeros(WIDTH)}
    if attention:
        params |= {"qkv.weight": matrix(rng, WIDTH, 3 * WIDTH), "qkv.bias": zeros(3 * WIDTH)}
        params |= {"out.weight": matrix(rng, WIDTH, WIDTH), "out.bias": zeros(WIDTH)}
    for name in ("norm1", "norm2", "norm") if norm else ():
        params |= {f"{name}.weight": zeros(WIDTH) + 1, f"{name}.bias": zeros(WIDTH)}
    return params | {"head.weight": zeros(WIDTH, CLASSES), "head.bias": zeros(CLASSES)}


# Lessons 8 and 9: the whole ViT.


def vit(adamw: bool) -> Callable[[Own, Dataset, int, Report], float]:
    """The ViT of lesson 8, with the step of lesson 3 or of lesson 9."""

    def train(own, data, epochs, report):
        config = SimpleNamespace(patch_size=PATCH, heads=HEADS, layers=LAYERS)
        forward = lambda params, images: own["forward"](config, params, images)
        params = vit_params(np.random.default_rng(0))
        rate = 3e-3 if adamw else 0.1
        return _trained(own, data, epochs, report, forward, own["backward"], params, rate, adamw)

    return train


def vit_params(rng: np.random.Generator) -> loop.Parameters:
    """First values of the ViT of lesson 8."""
    whole = token_params(rng, attention=False, norm=False)
    params = {name: whole[name] for name in ("patch.weight", "patch.bias")}
    params["class_token"] = zeros(WIDTH)
    params["position"] = rng.normal(0, 0.02, (1 + TOKENS, WIDTH)).astype(np.float32)
    for i in range(LAYERS):
        one = token_params(rng, attention=True, norm=True)
        for part, names in (("attn.", ATTENTION), ("mlp.", MLP)):
            params |= {f"blocks.{i}.{part}{name}": one[name] for name in names}
        for name in ("norm1.weight", "norm1.bias", "norm2.weight", "norm2.bias"):
            params[f"blocks.{i}.{name}"] = one[name]
    params |= {"norm.weight": zeros(WIDTH) + 1, "norm.bias": zeros(WIDTH)}
    return params | {"head.weight": zeros(WIDTH, CLASSES), "head.bias": zeros(CLASSES)}


def _trained(own, data, epochs, report, forward, backward, params, rate, adamw=False) -> float:
    params = loop.fit(own, forward, backward, params, data, epochs, rate, report, adamw)
    return loop.accuracy(own, forward, params, data.test.images, data.test.labels)


_PIXELS = ("normalise", "cross-entropy", "linear")
_PATCHES = (*_PIXELS, "GELU", "MLP", "patches", "position embedding")
_BLOCK = (*_PATCHES, "softmax backward", "attention", "LayerNorm")
_VIT = (*_BLOCK, "class token", "block", "ViT")
RUNGS = (
    Rung("a linear classifier", 3, _PIXELS, linear_classifier),
    Rung("an MLP on all pixels", 4, (*_PIXELS, "GELU", "MLP"), perceptron),
    Rung("an MLP on every patch", 5, _PATCHES, over_patches(attention=False, norm=False)),
    Rung("and attention", 6, _BLOCK[:-1], over_patches(attention=True, norm=False)),
    Rung("and LayerNorm", 7, _BLOCK, over_patches(attention=True, norm=True)),
    Rung("a ViT of three blocks", 8, _VIT, vit(adamw=False)),
    Rung("the ViT, trained by AdamW", 9, (*_VIT, "clipping", "learning rate", "AdamW"), vit(adamw=True)),
)
