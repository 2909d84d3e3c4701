"""The whole model written out, right: the wrong answers in mutants/ each change one line of it."""

import importlib

import numpy as np

from tinyvit import ops
from tinyvit.checking import gradient_error, numerical_gradient, random_params
from tinyvit.model import ViTConfig
from tinyvit.model.block import block, block_backward

pixel_gradient = importlib.import_module("lessons.12_vit.solution").pixel_gradient


def parameter_count(config):
    D, M, C = config.width, config.mlp_width, config.classes
    R = config.pre_logits
    patch = 3 * config.patch_size**2 * D + D
    tokens = config.tokens * D + config.has_token * D
    block = 4 * (D * D + D) + 2 * D * M + M + D + 4 * D
    head = (D * R + R) + (R * C + C) if R else D * C + C
    return patch + tokens + config.layers * block + 2 * D + head


def forward(config, params, images):
    x, _ = ops.patchify(images, config.patch_size)
    x, patch = ops.linear(x, *params.group("patch"))
    if config.has_token:
        x, _ = ops.class_token(x, params["class_token"])
    x, _ = ops.position_embedding(x, params["position"])
    blocks = []
    for i in range(config.layers):
        x, cache = block(config, params, i, x)
        blocks.append(cache)
    x, norm = ops.layer_norm(x, *params.group("norm"), config.eps)
    x, pool = (ops.token_pool if config.has_token else ops.mean_pool)(x)
    hidden = None
    if config.pre_logits:
        x, hidden = ops.linear(x, *params.group("pre_logits"))
        x, tanh = ops.tanh(x)
        hidden = hidden, tanh
    logits, head = ops.linear(x, *params.group("head"))
    return logits, (config, patch, blocks, norm, pool, hidden, head)


def backward(dlogits, cache, grads):
    config, patch, blocks, norm, pool, hidden, head = cache
    dx, *dhead = ops.linear_backward(dlogits, head)
    grads.add("head", *dhead)
    if hidden is not None:
        dx = ops.tanh_backward(dx, hidden[1])
        dx, *dhidden = ops.linear_backward(dx, hidden[0])
        grads.add("pre_logits", *dhidden)
    dx = (ops.token_pool_backward if config.has_token else ops.mean_pool_backward)(dx, pool)
    dx, *dnorm = ops.layer_norm_backward(dx, norm)
    grads.add("norm", *dnorm)
    for i in reversed(range(config.layers)):
        dx = block_backward(i, dx, blocks[i], grads)
    dx, dposition = ops.position_embedding_backward(dx, None)
    grads.add("position", dposition)
    if config.has_token:
        dx, dtoken = ops.class_token_backward(dx, None)
        grads.add("class_token", dtoken)
    _, *dpatch = ops.linear_backward(dx, patch)
    grads.add("patch", *dpatch)


def trust_vit(forward, backward):
    rng = np.random.default_rng(0)
    config = ViTConfig((2, 4), 2, width=2, mlp_width=3, heads=1, layers=2, classes=4)
    params = random_params(config, rng)
    images = rng.normal(size=(2, 2, 4, 3))
    logits, cache = forward(config, params, images)
    dlogits = rng.normal(size=logits.shape)
    grads, pushed = params.zeros_like(), params.zeros_like()
    backward(dlogits, cache, grads)
    pushed.flat[...] = numerical_gradient(
        lambda: (forward(config, params, images)[0] * dlogits).sum(), params.flat
    )
    return all(gradient_error(grads[name], pushed[name]) < 1e-6 for name in params)
