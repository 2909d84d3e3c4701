"""The attention's backward is given dy instead of all that arrived at x'."""

from tinyvit.ops import attention, attention_backward, layer_norm, layer_norm_backward, mlp, mlp_backward

NORM1 = ("norm1.weight", "norm1.bias")
ATTENTION = ("attn.qkv.weight", "attn.qkv.bias", "attn.out.weight", "attn.out.bias")
NORM2 = ("norm2.weight", "norm2.bias")
MLP = ("mlp.fc1.weight", "mlp.fc1.bias", "mlp.fc2.weight", "mlp.fc2.bias")


def block(x, params, heads):
    n, norm1 = layer_norm(x, *(params[name] for name in NORM1))
    a, attn = attention(n, *(params[name] for name in ATTENTION), heads)
    x = x + a
    n, norm2 = layer_norm(x, *(params[name] for name in NORM2))
    m, hidden = mlp(n, *(params[name] for name in MLP))
    return x + m, (norm1, attn, norm2, hidden)


def block_backward(dy, cache):
    norm1, attn, norm2, hidden = cache
    dn, *dmlp = mlp_backward(dy, hidden)
    branch, *dnorm2 = layer_norm_backward(dn, norm2)
    dmiddle = dy + branch
    dn, *dattention = attention_backward(dy, attn)
    branch, *dnorm1 = layer_norm_backward(dn, norm1)
    names = NORM1 + ATTENTION + NORM2 + MLP
    return dmiddle + branch, dict(zip(names, dnorm1 + dattention + dnorm2 + dmlp, strict=True))
