"""Small models with random parameters, their pages, and what Python computes for them."""

from dataclasses import replace

import numpy as np

from tinyvit import Model
from tinyvit.data import ImageSet, normalise
from tinyvit.insight.page import choose_samples, write_page
from tinyvit.model import ViTConfig, attention_maps, infer, initialise, stages
from tinyvit.model.stage import backward_through, forward_through
from tinyvit.ops import cross_entropy, cross_entropy_backward

BASE = {
    "image_size": 16,
    "patch_size": 4,
    "width": 16,
    "mlp_width": 24,
    "heads": 4,
    "layers": 2,
    "classes": 5,
}
CLASSES = ("cat", "dog", "</script><b>", "heron", "newt")


def random_model(seed=0, **changes):
    """A model whose parameters are all random, and its logits a few units large."""
    config = ViTConfig(**(BASE | changes))
    params = initialise(config, seed)
    params.flat += 0.2 * np.random.default_rng(seed).standard_normal(params.flat.shape, dtype=np.float32)
    return Model(config, params, CLASSES[: config.classes] if config.classes <= 5 else ())


def pixels_for(model, count=20, seed=1):
    """Random images of the model's size: smooth colours with some noise, as in photos."""
    rng = np.random.default_rng(seed)
    H, W = model.config.image_size
    coarse = rng.integers(0, 256, (count, H // 4, W // 4, 3)).repeat(4, axis=1).repeat(4, axis=2)
    return (coarse + rng.integers(-20, 20, coarse.shape)).clip(0, 255).astype(np.uint8)


def page_of(model, path, count=20):
    """Write the model's page with samples, at `path`."""
    images = pixels_for(model, count)
    labels = np.arange(count, dtype=np.int64) % model.config.classes
    write_page(model, path, choose_samples(model.config, ImageSet(images, labels)), "a test.")
    return path


def expected(model, pixels, **changes):
    """Logits (n, C) and attention (n, layers, heads, N, N) of changed models and pictures, by Python."""
    config, params, cut, _ = changed(model, pixels, **changes)
    return infer(config, params, cut), np.stack(list(attention_maps(config, params, cut)), axis=1)


def expected_gradient(model, pixels, target, **changes):
    """The gradient of the loss with class target, with respect to pixels from -1 to 1: (n, H, W, 3)."""
    config, params, cut, places = changed(model, pixels, **changes)
    logits, caches = forward_through(stages(config), params, cut)
    dlogits = cross_entropy_backward(cross_entropy(logits, np.full(len(cut), target))[1]) * len(cut)
    dcut = backward_through(stages(config), dlogits, caches, params.zeros_like())
    dx = np.zeros_like(dcut)
    for shown, source in places:
        dx[source] = dcut[shown]
    return dx


def changed(model, pixels, covered=(), order=None, positions=True, off=()):
    """Configuration and parameters (float64) of a changed model, the changed pictures, (n, H, W, 3), from -1
    to 1, and what they show: pairs of a place in them and the place in pixels that it comes from."""
    config = model.config
    params = initialise(config, dtype="float64")
    params.flat[:] = model.params.flat
    if not positions:
        config = without_positions(config, params)
    for head in off:
        block, h = map(int, head.split("."))
        K = config.width // config.heads
        params[f"blocks.{block}.attn.out.weight"][h * K : (h + 1) * K] = 0
    images, P = normalise(pixels, np.float64), config.patch_size
    corners = [(P * row, P * column) for row, column in np.ndindex(config.grid)]
    squares = [np.s_[:, top : top + P, left : left + P] for top, left in corners]
    sources = squares if order is None else [squares[p] for p in order]
    places = [pair for p, pair in enumerate(zip(squares, sources, strict=True)) if p not in covered]
    cut = np.zeros_like(images)
    for shown, source in places:
        cut[shown] = images[source]
    return config, params, cut, places


def without_positions(config, params):
    """Take the positions of patches, not that of the class token, from params; the configuration to use."""
    for name in params:
        if name.split(".")[-1] == "position" and config.position == "1d":
            params[name][config.has_token :] = 0
        elif "position" in name:
            params[name] = np.zeros_like(params[name])
    return replace(config, position="none", position_at=None) if config.position == "sincos" else config
