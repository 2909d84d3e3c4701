"""The library's own embeddings are the model answer."""

from tinyvit.ops import class_token, class_token_backward, position_embedding_backward

__all__ = ["class_token", "class_token_backward", "position_embedding_backward"]
