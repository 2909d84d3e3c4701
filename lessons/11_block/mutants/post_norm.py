"""LayerNorm after the addition: the order of 2017."""

from tinyvit.ops import attention, attention_backward, layer_norm, layer_norm_backward, mlp, mlp_backward

NORM1 = ("norm1.weight", "norm1.bias")
ATTENTION = ("attn.qkv.weight", "attn.qkv.bias", "attn.out.weight", "attn.out.bias")
NORM2 = ("norm2.weight", "norm2.bias")
MLP = ("mlp.fc1.weight", "mlp.fc1.bias", "mlp.fc2.weight", "mlp.fc2.bias")


def block(x, params, heads):
    a, attn = attention(x, *(params[name] for name in ATTENTION), heads)
    x, norm1 = layer_norm(x + a, *(params[name] for name in NORM1))
    m, hidden = mlp(x, *(params[name] for name in MLP))
    y, norm2 = layer_norm(x + m, *(params[name] for name in NORM2))
    return y, (norm1, attn, norm2, hidden)


def block_backward(dy, cache):
    norm1, attn, norm2, hidden = cache
    ds, *dnorm2 = layer_norm_backward(dy, norm2)
    branch, *dmlp = mlp_backward(ds, hidden)
    dmiddle, *dnorm1 = layer_norm_backward(ds + branch, norm1)
    branch, *dattention = attention_backward(dmiddle, attn)
    names = NORM1 + ATTENTION + NORM2 + MLP
    return dmiddle + branch, dict(zip(names, dnorm1 + dattention + dnorm2 + dmlp, strict=True))
