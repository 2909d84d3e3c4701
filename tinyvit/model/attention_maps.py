"""The attention probabilities of every block, among the tokens of the image."""

from collections.abc import Iterator

from tinyvit import ops
from tinyvit.backend import Array
from tinyvit.model.config import ViTConfig
from tinyvit.model.params import Params
from tinyvit.model.passes import check_images, stages


def attention_maps(config: ViTConfig, params: Params, images: Array) -> Iterator[Array]:
    """The attention probabilities A (B, heads, N, N), block by block, for all tokens.

    Each block's cache is freed before the next block, so that memory holds one of them however deep the
    model is.
    """
    check_images(config, images)
    x = images
    for each in stages(config, all_tokens=True):
        x, cache = each.forward(params, x)
        if each.name.startswith("blocks."):
            yield attention_among_all(config, cache)


def attention_among_all(config: ViTConfig, cache: tuple) -> Array:
    """The attention probabilities in a block's cache, of its queries to all tokens: (B, heads, Q, N)."""
    A = ops.attention_probabilities(cache[1])
    if config.is_paper:
        return A
    from tinyvit.model.later.merged_patches import over_patches  # the paper's model does not need it

    return over_patches(config, A)
