"""One Transformer block, pre-norm (ViT eq. 2 and 3), forward and backward.

    x' = x  + attention(LayerNorm(x))                                                      (1)
    y  = x' + MLP(LayerNorm(x'))                                                           (2)

Backward. In y = x + f(x) the gradient flows through both the skip connection and f, and the two add up:

    dx = dy + (gradient of f at dy)                                                        (3)

The first term is why deep stacks of blocks can be trained: the gradient reaches the first layer undiminished.

The last block of a class-token model computes that token alone, since the head reads no other.
"""

from tinyvit import ops
from tinyvit.backend import Array, array_module
from tinyvit.model.params import Params
from tinyvit.ops.attention import join_heads, split_heads


def block(params: Params, name: str, x: Array, heads: int, gelu: str, eps: float) -> tuple[Array, tuple]:
    """The block whose parameters begin with name: x (B, N, D) to y (B, N, D), and the cache."""
    n, norm1 = ops.layer_norm(x, *params.group(f"{name}.norm1"), eps)
    a, attention = ops.attention(n, *params.group(f"{name}.attn"), heads)
    x = x + a  # (B, N, D)                                                         eq. 1 (ViT eq. 2)
    n, norm2 = ops.layer_norm(x, *params.group(f"{name}.norm2"), eps)
    m, mlp = ops.mlp(n, *params.group(f"{name}.mlp"), gelu)
    y = x + m  # (B, N, D)                                                         eq. 2 (ViT eq. 3)
    return y, (norm1, attention, norm2, mlp)


def block_backward(dy: Array, cache: tuple, grads: Params, name: str) -> Array:
    """Gradient of block: dy (B, N, D) to dx (B, N, D); adds the gradients of its parameters to grads."""
    norm1, attention, norm2, mlp = cache
    dn, *dmlp = ops.mlp_backward(dy, mlp)
    dmid, *dnorm2 = ops.layer_norm_backward(dn, norm2)
    dmid += dy  # of x' (B, N, D)                                                            eq. 3
    dn, *dattention = ops.attention_backward(dmid, attention)
    dx, *dnorm1 = ops.layer_norm_backward(dn, norm1)
    dx += dmid  # (B, N, D)                                                                  eq. 3
    grads.add(f"{name}.mlp", *dmlp)
    grads.add(f"{name}.norm2", *dnorm2)
    grads.add(f"{name}.attn", *dattention)
    grads.add(f"{name}.norm1", *dnorm1)
    return dx


def last_block(params: Params, name: str, x: Array, heads: int, gelu: str, eps: float) -> tuple[Array, tuple]:
    """The class token after the block, y (B, 1, D), from all tokens x (B, N, D); and the cache.

    All N tokens have keys and values, but only the first has a query. So attend, the output matrix and the
    MLP cost 1/N of what they cost in another block.
    """
    qkv_weight, qkv_bias, out_weight, out_bias = params.group(f"{name}.attn")
    n, norm1 = ops.layer_norm(x, *params.group(f"{name}.norm1"), eps)
    qkv, qkv_cache = ops.linear(n, qkv_weight, qkv_bias)  # (B, N, 3D)
    q, k, v = split_heads(qkv, 3, heads)
    o, attended = ops.attend(q[:, :, :1], k, v)  # (B, H, 1, K)
    a, out_cache = ops.linear(join_heads(o), out_weight, out_bias)  # (B, 1, D)
    x = x[:, :1] + a
    n, norm2 = ops.layer_norm(x, *params.group(f"{name}.norm2"), eps)
    m, mlp = ops.mlp(n, *params.group(f"{name}.mlp"), gelu)
    return x + m, (norm1, (qkv_cache, attended, out_cache), norm2, mlp)


def last_block_backward(dy: Array, cache: tuple, grads: Params, name: str) -> Array:
    """Gradient of last_block: dy (B, 1, D) to dx (B, N, D); adds the gradients of its parameters to grads."""
    norm1, (qkv_cache, attended, out_cache), norm2, mlp = cache
    (B, H, N, K), xp = attended[1].shape, array_module(dy)  # attended[1] is k
    dn, *dmlp = ops.mlp_backward(dy, mlp)
    dmid, *dnorm2 = ops.layer_norm_backward(dn, norm2)
    dmid += dy  # of x' (B, 1, D)
    do, *dout = ops.linear_backward(dmid, out_cache)
    dqkv = xp.empty((B, N, 3 * H * K), dtype=dy.dtype)
    dq, dk, dv = split_heads(dqkv, 3, H)
    dq[:, :, :1], dk[...], dv[...] = ops.attend_backward(split_heads(do, 1, H)[0], attended)
    dq[:, :, 1:] = 0  # these tokens were not queries
    dn, *dqkv_layer = ops.linear_backward(dqkv, qkv_cache)
    dx, *dnorm1 = ops.layer_norm_backward(dn, norm1)  # (B, N, D)
    dx[:, :1] += dmid
    grads.add(f"{name}.mlp", *dmlp)
    grads.add(f"{name}.norm2", *dnorm2)
    grads.add(f"{name}.attn", *dqkv_layer, *dout)
    grads.add(f"{name}.norm1", *dnorm1)
    return dx
