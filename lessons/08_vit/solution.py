"""The block and the ViT on plain dicts of parameters; tinyvit/model/ has the same, and dropout besides."""

import numpy as np

from tinyvit import ops
from tinyvit.gradcheck import random_params
from tinyvit.model import ViTConfig

NORM1 = ("norm1.weight", "norm1.bias")
ATTENTION = ("attn.qkv.weight", "attn.qkv.bias", "attn.out.weight", "attn.out.bias")
NORM2 = ("norm2.weight", "norm2.bias")
MLP = ("mlp.fc1.weight", "mlp.fc1.bias", "mlp.fc2.weight", "mlp.fc2.bias")
BLOCK = NORM1 + ATTENTION + NORM2 + MLP


def block(x, params, heads):
    """One pre-norm block: x (B, N, D) to y (B, N, D), and the cache."""
    n, norm1 = ops.layer_norm(x, *(params[name] for name in NORM1))
    a, attn = ops.attention(n, *(params[name] for name in ATTENTION), heads)
    x = x + a  # (B, N, D)  eq. 1: a new array, the caller keeps its own
    n, norm2 = ops.layer_norm(x, *(params[name] for name in NORM2))
    m, hidden = ops.mlp(n, *(params[name] for name in MLP))
    return x + m, (norm1, attn, norm2, hidden)  # (B, N, D)  eq. 2


def block_backward(dy, cache):
    """From dy (B, N, D): dx (B, N, D), and a dict with the gradient of every parameter under its name."""
    norm1, attn, norm2, hidden = cache
    dn, *dmlp = ops.mlp_backward(dy, hidden)
    branch, *dnorm2 = ops.layer_norm_backward(dn, norm2)
    dmiddle = dy + branch  # (B, N, D)  eq. 3
    dn, *dattention = ops.attention_backward(dmiddle, attn)
    branch, *dnorm1 = ops.layer_norm_backward(dn, norm1)
    return dmiddle + branch, dict(zip(BLOCK, dnorm1 + dattention + dnorm2 + dmlp, strict=True))  # eq. 3


def forward(config, params, images):
    """Logits (B, C) of images (B, H, W, 3), and the cache."""
    x, _ = ops.patchify(images, config.patch_size)  # (B, T, 3PP)
    x, patch = ops.linear(x, params["patch.weight"], params["patch.bias"])  # (B, T, D)
    x, token = ops.class_token(x, params["class_token"])  # (B, N, D)
    x, position = ops.position_embedding(x, params["position"])
    blocks = []
    for i in range(config.layers):
        x, cache = block(x, {name: params[f"blocks.{i}.{name}"] for name in BLOCK}, config.heads)
        blocks.append(cache)
    x, norm = ops.layer_norm(x, params["norm.weight"], params["norm.bias"])
    logits, head = ops.linear(x[:, 0], params["head.weight"], params["head.bias"])  # (B, C)
    return logits, (patch, token, position, blocks, norm, x.shape, head)


def backward(dlogits, cache):
    """A dict with the gradient of every parameter of the model under its name, from dlogits (B, C)."""
    patch, token, position, blocks, norm, shape, head = cache
    grads = {}
    dx = np.zeros(shape, dlogits.dtype)  # only row 0 was read
    dx[:, 0], grads["head.weight"], grads["head.bias"] = ops.linear_backward(dlogits, head)
    dx, grads["norm.weight"], grads["norm.bias"] = ops.layer_norm_backward(dx, norm)
    for i in reversed(range(len(blocks))):
        dx, named = block_backward(dx, blocks[i])
        grads |= {f"blocks.{i}.{name}": gradient for name, gradient in named.items()}
    dx, grads["position"] = ops.position_embedding_backward(dx, position)
    dx, grads["class_token"] = ops.class_token_backward(dx, token)
    _, grads["patch.weight"], grads["patch.bias"] = ops.linear_backward(dx, patch)
    return grads


def trust_vit(forward, backward):
    """Push each named parameter of a small random model in one random direction; two images, two blocks."""
    rng = np.random.default_rng(0)
    config = ViTConfig((4, 6), 2, width=4, mlp_width=8, heads=2, layers=2, classes=5)
    params, images = dict(random_params(config, rng)), rng.normal(size=(2, 4, 6, 3))
    logits, cache = forward(config, params, images)
    dlogits = rng.normal(size=logits.shape)
    grads = backward(dlogits, cache)

    def moved(name, push):
        return (forward(config, {**params, name: params[name] + push}, images)[0] * dlogits).sum()

    for name in params:
        direction = rng.normal(size=params[name].shape)
        direction /= np.linalg.norm(direction)
        by_push = (moved(name, 1e-5 * direction) - moved(name, -1e-5 * direction)) / 2e-5
        by_hand = (grads[name] * direction).sum()
        if abs(by_push - by_hand) > 1e-6 * (1 + abs(by_push)):
            return False
    return True


# The puzzles


def post_norm_block(x, params, heads):
    """One post-norm block: y (B, N, D), and the function that takes dy to dx and the gradients."""
    a, attn = ops.attention(x, *(params[name] for name in ATTENTION), heads)
    middle, norm1 = ops.layer_norm(x + a, *(params[name] for name in NORM1))
    m, hidden = ops.mlp(middle, *(params[name] for name in MLP))
    y, norm2 = ops.layer_norm(middle + m, *(params[name] for name in NORM2))

    def backward(dy):
        dsum, *dnorm2 = ops.layer_norm_backward(dy, norm2)
        branch, *dmlp = ops.mlp_backward(dsum, hidden)
        dsum, *dnorm1 = ops.layer_norm_backward(dsum + branch, norm1)
        branch, *dattention = ops.attention_backward(dsum, attn)
        return dsum + branch, dict(zip(BLOCK, dnorm1 + dattention + dnorm2 + dmlp, strict=True))

    return y, backward


def pixel_gradient(config, params, images, dlogits):
    """The walk of backward with two more steps: the patches' linear layer, and the cut."""
    _, _, _, blocks, norm, shape, head = forward(config, params, images)[1]
    dx = np.zeros(shape, dlogits.dtype)
    dx[:, 0] = ops.linear_backward(dlogits, head)[0]
    dx = ops.layer_norm_backward(dx, norm)[0]
    for cache_of_block in reversed(blocks):
        dx, _ = block_backward(dx, cache_of_block)
    dpatches = dx[:, 1:] @ params["patch.weight"].T  # the class token is no part of the image
    return ops.unpatchify(dpatches, images.shape, config.patch_size)
