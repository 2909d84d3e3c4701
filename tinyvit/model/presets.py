"""Models by name: SIZE/PATCH, as in the paper (ViT-B/16 is base with 16 x 16 patches)."""

from __future__ import annotations

import re
from dataclasses import replace

from tinyvit.errors import UserError
from tinyvit.model.config import ViTConfig

# width D, MLP width M, heads H, layers L
SIZES = {
    # for images of 32 x 32 pixels on a CPU
    "nano": (64, 128, 4, 4),
    "micro": (64, 128, 4, 6),
    "milli": (96, 192, 4, 6),
    "mini": (192, 384, 6, 9),
    # the paper's Table 1 and the official code's Ti and S
    "ti": (192, 768, 3, 12),
    "s": (384, 1536, 6, 12),
    "b": (768, 3072, 12, 12),
    "l": (1024, 4096, 16, 24),
    "h": (1280, 5120, 16, 32),
}
# Any patch size is accepted; these are the usual ones.
OFFICIAL = ("ti/16", "s/16", "s/32", "b/8", "b/16", "b/32", "l/16", "l/32", "h/14")
SMALL = ("nano/4", "micro/4", "milli/4", "mini/4")


def preset(name: str, image_size: tuple[int, int] | int, classes: int, **changes) -> ViTConfig:
    """The model called `name`, such as 'nano/4', 'Ti/16', 'vit-b/16' or 'ViT-B_16'; case does not matter.

    Further keyword arguments replace fields of ViTConfig. Raises UserError if there is no such model,
    or no such field.
    """
    match = _match(name)
    if match is None:
        raise UserError(
            f"unknown model {name!r}, expected SIZE/PATCH such as nano/4 or B/16, where SIZE is one of "
            f"{', '.join(SIZES)}."
        )
    if unknown := changes.keys() - ViTConfig.__dataclass_fields__.keys():
        raise UserError(
            f"a model has no {min(unknown)}: expected some of {', '.join(ViTConfig.__dataclass_fields__)}."
        )
    width, mlp_width, heads, layers = SIZES[match[1]]
    config = ViTConfig(image_size, int(match[2]), width, mlp_width, heads, layers, classes)
    return replace(config, **changes)


def is_preset(name: str) -> bool:
    """Whether there is a model of that name."""
    return _match(name) is not None


def usual_name(name: str) -> str:
    """A preset's name as in the paper, but without ViT-: ViT-b_16 becomes B/16, nano/4 stays nano/4."""
    size, patch = _match(name).groups()
    return f"{size if f'{size}/4' in SMALL else size.capitalize()}/{int(patch)}"


def _match(name: str) -> re.Match[str] | None:
    """A match with the size and the patch size as groups 1 and 2; None for an unknown name."""
    match = re.fullmatch(r"(?:vit[-_])?([a-z]+)[/_-]([0-9]+)", str(name).strip().lower())
    return match if match and match[1] in SIZES else None
