"""The library's own attention is the model answer; cutting into heads is written out here."""

from tinyvit.ops import attention, attention_backward

__all__ = ["attention", "attention_backward", "split_heads"]


def split_heads(qkv, heads):
    """From (B, N, 3D), columns ordered (q k v, head, K), to q, k and v, each (B, H, N, K)."""
    B, N, columns = qkv.shape
    return tuple(qkv.reshape(B, N, 3, heads, columns // (3 * heads)).transpose(2, 0, 3, 1, 4))
