"""Lesson 8: embeddings. Fill in the three functions, then run: pytest lessons/08_embeddings"""

import numpy as np  # noqa: F401 - you will want it


def class_token(x, token):
    """Put token (D,) before the tokens x (B, T, D) of every image; return y (B, T + 1, D) and a cache."""
    raise NotImplementedError("write class_token: place 0 is the token's, in every image; x follows")


def class_token_backward(dy, cache):
    """dx (B, T, D) and dtoken (D,) from dy (B, T + 1, D)."""
    raise NotImplementedError("write class_token_backward: equations 3 and 2")


def position_embedding_backward(dy, cache):
    """dx (B, N, D) and dembedding (N, D) of y = x + embedding, from dy (B, N, D). The cache is None."""
    raise NotImplementedError(
        "write position_embedding_backward: x is passed through, the table by equation 4"
    )
