"""Small models with random parameters, their pages, and what Python computes for them."""

from dataclasses import replace

import numpy as np

from tinyvit import Model
from tinyvit.data import ImageSet, normalise
from tinyvit.insight.page import choose_samples, write_page
from tinyvit.model import ViTConfig, attention_maps, infer, initialise

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


def expected(model, pixels, covered=(), order=None, positions=True, off=()):
    """Logits (n, C) and attention (n, layers, heads, N, N) of changed models and pictures, by Python."""
    config = model.config
    params = initialise(config)
    params.flat[:] = model.params.flat
    if not positions:
        config = without_positions(config, params)
    for head in off:
        block, h = map(int, head.split("."))
        K = config.width // config.heads
        params[f"blocks.{block}.attn.out.weight"][h * K : (h + 1) * K] = 0
    images, P = normalise(pixels, np.float32), config.patch_size
    cut = images.copy()
    for p in range(config.patches):
        source = p if order is None else order[p]
        (r, c), (r0, c0) = divmod(p, config.grid[1]), divmod(source, config.grid[1])
        patch = images[:, r0 * P : (r0 + 1) * P, c0 * P : (c0 + 1) * P]
        cut[:, r * P : (r + 1) * P, c * P : (c + 1) * P] = 0 if p in covered else patch
    maps = list(attention_maps(config, params, cut))
    return infer(config, params, cut), np.stack(maps, axis=1)


def without_positions(config, params):
    """Take the positions of patches, not that of the class token, from params; the configuration to use."""
    for name in params:
        if name.split(".")[-1] == "position" and config.position == "1d":
            params[name][config.has_token :] = 0
        elif "position" in name:
            params[name] = np.zeros_like(params[name])
    return replace(config, position="none", position_at=None) if config.position == "sincos" else config
