"""Two small towers and their training: python -m lessons.24_pictures_and_words.towers --loss softmax --seed 0

The image tower is a Vision Transformer whose head gives 128 numbers. The text tower is a table with a vector
of 128 numbers for every word; those of a caption are added up. The losses and gradients are yours where they
are written, and those of the solution elsewhere.
"""

import argparse
import importlib
from typing import NamedTuple

import numpy as np

from lessons.mine import yours
from tinyvit.data import normalise
from tinyvit.model import Params, ParamSpec, backward, forward, infer, initialise, preset
from tinyvit.optim import AdamW, clip_norm, learning_rate

pictures = importlib.import_module("lessons.24_pictures_and_words.pictures")

WIDTH = 128  # of a picture's or a caption's vector
CAPTIONS = [pictures.caption(n, *pair) for n in (1, 2, 3) for pair in pictures.PAIRS]  # all 300
WORDS = sorted({word for caption in CAPTIONS for word in caption.split()})  # all 33
FIRST_SCALES = {"softmax": 1 / 0.07, "sigmoid": 10.0}
PICTURES, STEPS, BATCH, PEAK = 10_000, 800, 64, 2e-3


class Towers(NamedTuple):
    """The parameters of both towers; those of the texts include log_scale (1,) and bias (1,)."""

    image: Params
    text: Params


def config_of(width):
    """The image tower's configuration."""
    return preset("nano/8", 32, width, pool="mean")


def direction(x):
    """Every row of x (B, E) divided by its length, and the cache for direction_backward."""
    length = np.sqrt((x * x).sum(axis=-1, keepdims=True))  # (B, 1)
    y = x / length  # eq. 1
    return y, (y, length)


def first_towers(seed, scale, bias, width=WIDTH):
    """Towers that know nothing yet."""
    rng = np.random.default_rng(seed)
    image = initialise(config_of(width), seed)
    before = len(image["head.weight"])  # its zeros would have no direction
    image["head.weight"] = rng.normal(0, before**-0.5, (before, width))
    text = Params.zeros(
        (ParamSpec("words", (len(WORDS), width)), ParamSpec("log_scale", (1,)), ParamSpec("bias", (1,)))
    )
    text["words"] = rng.normal(0, 0.5, (len(WORDS), width))
    text["log_scale"], text["bias"] = np.log([scale]), np.array([bias])
    return Towers(image, text)


def numbers_of(captions):
    """The numbers of the captions' words, (B, 3)."""
    return np.array([[WORDS.index(word) for word in caption.split()] for caption in captions])


def embed_images(towers, images):
    """Unit vectors (n, 128) of pictures, uint8 (n, 32, 32, 3)."""
    config = config_of(len(towers.image["head.bias"]))
    pieces = np.array_split(normalise(images, np.float32), -(-len(images) // 100))
    return direction(np.concatenate([infer(config, towers.image, piece) for piece in pieces]))[0]


def embed_captions(towers, captions):
    """Unit vectors (n, 128) of captions."""
    return direction(towers.text["words"][numbers_of(captions)].sum(axis=1))[0]


def train(
    loss="softmax",
    seed=0,
    steps=STEPS,
    batch=BATCH,
    width=WIDTH,
    scale=None,
    learned=True,
    twins=True,
    report=None,
):
    """Towers after so many steps, and the loss of each step.

    scale is the first one; with learned False it stays. With twins False, only the diagonal counts as right
    for the sigmoid, even if a caption comes twice. report(step, loss, scale, bias) is called every 100 steps.
    """
    direction_backward, softmax_pairs, sigmoid_pairs = yours(
        "direction_backward", "softmax_pairs", "sigmoid_pairs"
    )
    rng = np.random.default_rng([seed, 1])
    images, captions, _ = pictures.draw(PICTURES, pictures.SHOWN, rng)
    images, words = normalise(images, np.float32), numbers_of(captions)
    towers = first_towers(seed, scale or FIRST_SCALES[loss], -np.log(batch), width)
    grads = Towers(*(params.zeros_like() for params in towers))
    optimisers = AdamW(towers.image, weight_decay=0.05), AdamW(towers.text)
    losses = []
    for step in range(1, steps + 1):
        chosen = rng.choice(PICTURES, batch, replace=False)
        ids = words[chosen]  # (B, 3)
        log_scale, bias = towers.text["log_scale"][0], towers.text["bias"][0]
        x, cache = forward(config_of(width), towers.image, images[chosen])  # (B, E)
        u, image_cache = direction(x)
        v, text_cache = direction(towers.text["words"][ids].sum(axis=1))
        if loss == "softmax":
            value, (du, dv, dlog_scale) = softmax_pairs(u, v, log_scale)
            dbias = 0
        else:
            same = (ids[:, None] == ids).all(axis=2) if twins else np.eye(batch, dtype=bool)
            value, (du, dv, dlog_scale, dbias) = sigmoid_pairs(u, v, log_scale, bias, same)
        for params in grads:
            params.flat[...] = 0
        backward(direction_backward(du, image_cache), cache, grads.image)
        dtexts = direction_backward(dv, text_cache)
        np.add.at(grads.text["words"], ids, dtexts[:, None])  # to each word of the caption
        grads.text["log_scale"][0], grads.text["bias"][0] = learned * dlog_scale, dbias
        clip_norm(grads.image, 1.0)
        rate = learning_rate(step, steps, PEAK, steps // 10)
        for optimiser, gradient in zip(optimisers, grads, strict=True):
            optimiser.step(gradient, rate, step)
        np.minimum(towers.text["log_scale"], np.log(100), out=towers.text["log_scale"])  # as in CLIP
        losses.append(float(value))
        if report and step % 100 == 0:
            report(step, np.mean(losses[-50:]), np.exp(towers.text["log_scale"][0]), towers.text["bias"][0])
    return towers, losses


def classes(towers):
    """A unit vector for each of the 100 pairs, (100, 128): the mean of its three captions."""
    each = embed_captions(towers, CAPTIONS).reshape(3, len(pictures.PAIRS), -1)
    return direction(each.mean(axis=0))[0]


def zero_shot(towers, pairs, seed=0, count=1000):
    """The shares of new pictures of these pairs with the right pair (of all 100), colour and shape."""
    images, _, which = pictures.draw(count, pairs, np.random.default_rng([seed, 2]))
    said = (embed_images(towers, images) @ classes(towers).T).argmax(axis=1)
    said, true = np.array(pictures.PAIRS)[said], np.array(pairs)[which]  # (count, 2): colour and shape
    return (said == true).all(axis=1).mean(), *(said == true).mean(axis=0)


def main():
    """Train, and say how many pictures are named right."""
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("--loss", choices=FIRST_SCALES, default="softmax")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    told = "step {:4}   loss {:.3f}   scale {:5.1f}   bias {:6.2f}"
    towers, _ = train(
        chosen.loss, chosen.seed, report=lambda *numbers: print(told.format(*numbers), flush=True)
    )
    for name, pairs in (("shown in training", pictures.SHOWN), ("never shown or named", pictures.NEVER)):
        right, colour, shape = zero_shot(towers, pairs, chosen.seed)
        print(f"{name:21} {right:.1%} right   colour {colour:.1%}   shape {shape:.1%}")


if __name__ == "__main__":
    main()
