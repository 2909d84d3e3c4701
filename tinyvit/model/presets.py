"""Models by name: SIZE/PATCH, as in the paper (ViT-B/16 is base with 16 x 16 patches).

A hybrid is RESNET+SIZE/PATCH: R50+B/16 is base, on patches of the feature map of a ResNet-50.
"""

from __future__ import annotations

import re

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
# The ResNet of a hybrid, by its name and the patch size in the model's name: the units of its stages, and the
# side of a patch in its feature map. The names and sizes are those of the official code: in R50+B/16, three
# stages have the units of four; and R+Ti/16 has patches of 32 pixels, since its root halves the image twice.
RESNETS = {
    ("r", 16): ((), 8),
    ("r26", 32): ((2, 2, 2, 2), 1),
    ("r50", 16): ((3, 4, 9), 1),
    ("r50", 32): ((3, 4, 6, 3), 1),
}
# Any patch size is accepted, except for hybrids; these are the usual ones.
OFFICIAL = ("ti/16", "s/16", "s/32", "b/8", "b/16", "b/32", "l/16", "l/32", "h/14")
OFFICIAL += ("r+ti/16", "r26+s/32", "r26+b/32", "r50+b/16", "r50+l/32")
SMALL = ("nano/4", "micro/4", "milli/4", "mini/4")


def preset(name: str, image_size: tuple[int, int] | int, classes: int, **changes) -> ViTConfig:
    """The model called `name`, such as 'nano/4', 'vit-b/16', 'ViT-B_16' or 'R26+S/32'; case does not matter.

    Further keyword arguments replace fields of ViTConfig. Raises UserError if there is no such model,
    or no such field.
    """
    match = _match(name)
    if match is None:
        raise UserError(
            f"unknown model {name!r}, expected SIZE/PATCH such as nano/4 or B/16, where SIZE is one of "
            f"{', '.join(SIZES)}; or a hybrid, RESNET+SIZE/PATCH, such as R26+S/32, where RESNET and "
            f"PATCH are {', '.join(f'{resnet.upper()} and {patch}' for resnet, patch in RESNETS)}."
        )
    if unknown := changes.keys() - ViTConfig.__dataclass_fields__.keys():
        raise UserError(
            f"a model has no {min(unknown)}: expected some of {', '.join(ViTConfig.__dataclass_fields__)}."
        )
    width, mlp_width, heads, layers = SIZES[match[2]]
    resnet, patch = RESNETS[match[1], int(match[3])] if match[1] else (None, int(match[3]))
    shape = {"patch_size": patch, "width": width, "mlp_width": mlp_width, "heads": heads, "layers": layers}
    return ViTConfig(**({"image_size": image_size, "classes": classes, "resnet": resnet} | shape | changes))


def is_preset(name: str) -> bool:
    """Whether there is a model of that name."""
    return _match(name) is not None


def usual_name(name: str) -> str:
    """A preset's name as in the paper, but without ViT-: ViT-b_16 becomes B/16, nano/4 stays nano/4."""
    resnet, size, patch = _match(name).groups()
    before = f"{resnet.upper()}+" if resnet else ""
    return f"{before}{size if f'{size}/4' in SMALL else size.capitalize()}/{int(patch)}"


def _match(name: str) -> re.Match[str] | None:
    """A match with the ResNet, if any, the size and the patch size as groups; None for an unknown name."""
    pattern = r"(?:(r[0-9]*)[+_])?(?:vit[-_])?([a-z]+)[/_-]([0-9]+)"
    match = re.fullmatch(pattern, str(name).strip().lower())
    if not match or match[2] not in SIZES or (match[1] and (match[1], int(match[3])) not in RESNETS):
        return None
    return match
