"""The library's own GELU and MLP are the model answer."""

from tinyvit.ops import gelu, gelu_backward, mlp, mlp_backward

__all__ = ["gelu", "gelu_backward", "mlp", "mlp_backward"]
