"""The class token and the position embedding (ViT eq. 1), forward and backward.

A learned vector t is placed before the T patch embeddings of every image, and a learned vector is added at
every position:

    z = [t; x_1; ...; x_T] + E                            (N, D), N = T + 1                (1)

Without the position embedding, shuffling the patches of an image would not change the class token's output,
because attention treats its input as a set.

Backward. t and E are shared by all B images, so each sums the gradients of all of them; x is passed through:

    dt = sum over images of dz_0                                                           (2)
    dx_j = dz_j                for the positions j of the patches                          (3)
    dE = sum over images of dz                                                             (4)

Some models place more learned vectors before the patches: registers (Darcet et al. 2024, *Vision Transformers
Need Registers*), in which a model may note what belongs to no patch, or a token for distillation. They are
shared by all images, as the class token is.
"""

from tinyvit.backend import Array, array_module


def class_token(x: Array, token: Array) -> tuple[Array, None]:
    """Put token (D,) before the tokens x (B, T, D) of every image; returns (B, T + 1, D) and no cache."""
    B, T, D = x.shape
    y = array_module(x).empty((B, T + 1, D), dtype=x.dtype)
    y[:, 0] = token
    y[:, 1:] = x
    return y, None


def class_token_backward(dy: Array, cache: None) -> tuple[Array, Array]:
    """Gradients of class_token: dx (B, T, D), dtoken (D,)."""
    return dy[:, 1:], dy[:, 0].sum(axis=0)  #                                                eq. 3, 2


def register_tokens(x: Array, registers: Array) -> tuple[Array, int]:
    """Put registers (R, D) before the tokens x (B, T, D) of every image: (B, R + T, D), and the cache."""
    xp = array_module(x)
    shared = xp.broadcast_to(registers, (len(x), *registers.shape))
    return xp.concatenate([shared, x], axis=1), len(registers)


def register_tokens_backward(dy: Array, cache: int) -> tuple[Array, Array]:
    """Gradients of register_tokens: dx (B, T, D), dregisters (R, D)."""
    return dy[:, cache:], dy[:, :cache].sum(axis=0)  #                                       eq. 3, 2


def position_embedding(x: Array, embedding: Array) -> tuple[Array, None]:
    """Add embedding (N, D) to the tokens x (B, N, D) of every image; returns (B, N, D) and no cache."""
    return x + embedding, None


def position_embedding_backward(dy: Array, cache: None) -> tuple[Array, Array]:
    """Gradients of position_embedding: dx (B, N, D), dembedding (N, D)."""
    return dy, dy.sum(axis=0)  #                                                             eq. 4
