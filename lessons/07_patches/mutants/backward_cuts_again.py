"""The backward applies the permutation once more instead of its inverse."""

from tinyvit.ops import patchify, unpatchify

__all__ = ["patchify", "patchify_backward", "unpatchify"]


def patchify_backward(dy, cache):
    shape, patch = cache
    return patchify(dy.reshape(shape), patch)[0].reshape(shape)
