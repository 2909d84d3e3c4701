"""The library's own ViT is the model answer; the formula for the parameters is written out here."""

from tinyvit.model import backward, forward

__all__ = ["backward", "forward", "parameter_count"]


def parameter_count(config):
    """How many numbers a ViT of this ViTConfig has to learn."""
    D, M, C = config.width, config.mlp_width, config.classes
    R = config.pre_logits
    patch = 3 * config.patch_size**2 * D + D
    places = config.tokens * D + config.has_token * D
    block = 4 * (D * D + D) + 2 * D * M + M + D + 4 * D
    head = (D * R + R) + (R * C + C) if R else D * C + C
    return patch + places + config.layers * block + 2 * D + head
