"""The library's own patches are the model answer."""

from tinyvit.ops import patchify, patchify_backward, unpatchify

__all__ = ["patchify", "patchify_backward", "unpatchify"]
