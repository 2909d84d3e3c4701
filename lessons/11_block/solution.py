"""The block on a plain dict of parameters; tinyvit/model/block.py is the same, with dropout besides."""

import numpy as np

from tinyvit.ops import attention, attention_backward, layer_norm, layer_norm_backward, mlp, mlp_backward

NORM1 = ("norm1.weight", "norm1.bias")
ATTENTION = ("attn.qkv.weight", "attn.qkv.bias", "attn.out.weight", "attn.out.bias")
NORM2 = ("norm2.weight", "norm2.bias")
MLP = ("mlp.fc1.weight", "mlp.fc1.bias", "mlp.fc2.weight", "mlp.fc2.bias")


def block(x, params, heads):
    """One pre-norm block: x (B, N, D) to y (B, N, D), and the cache."""
    n, norm1 = layer_norm(x, *(params[name] for name in NORM1))
    a, attn = attention(n, *(params[name] for name in ATTENTION), heads)
    x = x + a  # (B, N, D)  eq. 1: a new array, the caller keeps its own
    n, norm2 = layer_norm(x, *(params[name] for name in NORM2))
    m, hidden = mlp(n, *(params[name] for name in MLP))
    return x + m, (norm1, attn, norm2, hidden)  # (B, N, D)  eq. 2


def block_backward(dy, cache):
    """From dy (B, N, D): dx (B, N, D), and a dict with the gradient of every parameter under its name."""
    norm1, attn, norm2, hidden = cache
    dn, *dmlp = mlp_backward(dy, hidden)
    branch, *dnorm2 = layer_norm_backward(dn, norm2)
    dmiddle = dy + branch  # (B, N, D)  eq. 3
    dn, *dattention = attention_backward(dmiddle, attn)
    branch, *dnorm1 = layer_norm_backward(dn, norm1)
    names = NORM1 + ATTENTION + NORM2 + MLP
    return dmiddle + branch, dict(zip(names, dnorm1 + dattention + dnorm2 + dmlp, strict=True))  # eq. 3


def guilty_block():
    """Ben takes the variance of a sum for the sum of the variances: wrong if both add something."""
    rng = np.random.default_rng(0)
    return "Ben", (rng.normal(size=(2, 3, 4)), rng.normal(size=(4, 4)), rng.normal(size=(4, 4)))


# The puzzle


def post_norm_block(x, params, heads):
    """One post-norm block: y (B, N, D), and the function that takes dy to dx and the gradients."""
    a, attn = attention(x, *(params[name] for name in ATTENTION), heads)
    middle, norm1 = layer_norm(x + a, *(params[name] for name in NORM1))
    m, hidden = mlp(middle, *(params[name] for name in MLP))
    y, norm2 = layer_norm(middle + m, *(params[name] for name in NORM2))

    def backward(dy):
        dsum, *dnorm2 = layer_norm_backward(dy, norm2)
        branch, *dmlp = mlp_backward(dsum, hidden)
        dsum, *dnorm1 = layer_norm_backward(dsum + branch, norm1)
        branch, *dattention = attention_backward(dsum, attn)
        names = NORM2 + MLP + NORM1 + ATTENTION
        return dsum + branch, dict(zip(names, dnorm2 + dmlp + dnorm1 + dattention, strict=True))

    return y, backward
