"""Models by name: SIZE/PATCH, as in the paper (ViT-B/16 is base with 16 x 16 patches).

A hybrid is RESNET+SIZE/PATCH: R50+B/16 is base, on patches of the feature map of a ResNet-50. A ResNet on its
own is resnet-SIZE: resnet-50 is the ResNet-50 that the paper compares ViT with.
"""

import re
from typing import Any, NamedTuple

from tinyvit.model.config import WITHOUT_TRANSFORMER, ViTConfig, resnet_channels
from tinyvit.support.errors import UserError, did_you_mean

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


class ResNet(NamedTuple):
    """The units in each stage of a ResNet, the channels of its root, and the groups of its GroupNorms."""

    units: tuple[int, ...]
    width: int = 64
    groups: int = 32


# The ResNet of a hybrid, by its name and the patch size in the model's name, and the side of a patch in its
# feature map. The official code's come last, with its names and sizes: in R50+B/16, three stages have the
# units of four; and R+Ti/16 has patches of 32 pixels, since its root halves the image twice.
HYBRIDS = {
    ("r5", 4): (ResNet((1,), 16, 4), 1),  # for images of 32 x 32 pixels
    ("r", 16): (ResNet(()), 8),
    ("r26", 32): (ResNet((2, 2, 2, 2)), 1),
    ("r50", 16): (ResNet((3, 4, 9)), 1),
    ("r50", 32): (ResNet((3, 4, 6, 3)), 1),
}
# ResNets on their own. By cost.multiply_adds at 32 px, nano and micro are within 3% of nano/4 and micro/4.
RESNETS = {
    "nano": ResNet((2, 2, 3), 32, 8),
    "micro": ResNet((3, 4, 5), 32, 8),
    "26": ResNet((2, 2, 2, 2)),
    "50": ResNet((3, 4, 6, 3)),
}
# Any patch size is accepted, except for hybrids; these are the usual ones.
SMALL: tuple[str, ...] = ("nano/4", "micro/4", "milli/4", "mini/4")
SMALL += ("r5+nano/4", "r5+micro/4", "resnet-nano", "resnet-micro")  # for 32 x 32 pixels
OFFICIAL: tuple[str, ...] = ("ti/16", "s/16", "s/32", "b/8", "b/16", "b/32", "l/16", "l/32", "h/14")
OFFICIAL += ("r+ti/16", "r26+s/32", "r26+b/32", "r50+b/16", "r50+l/32", "resnet-26", "resnet-50")


def preset(name: str, image_size: tuple[int, int] | int, classes: int, **changes: Any) -> ViTConfig:
    """The model called `name`, such as 'nano/4', 'ViT-B_16', 'R26+S/32' or 'resnet-50', in any case.

    Further keyword arguments replace fields of ViTConfig. Raises UserError if there is no such model,
    or no such field.
    """
    fields = _fields(name)
    if fields is None:
        raise UserError(
            f"unknown model {name!r}{did_you_mean(str(name), map(usual_name, SMALL + OFFICIAL))}, expected "
            "SIZE/PATCH such as nano/4 or B/16, where SIZE is one of "
            f"{', '.join(SIZES)}; or a hybrid, RESNET+SIZE/PATCH, such as R26+S/32, where RESNET and "
            f"PATCH are {', '.join(f'{resnet.upper()} and {patch}' for resnet, patch in HYBRIDS)}; or a "
            f"ResNet, one of {', '.join(f'resnet-{size}' for size in RESNETS)}."
        )
    if unknown := changes.keys() - ViTConfig.__dataclass_fields__.keys():
        names = ViTConfig.__dataclass_fields__
        hint = did_you_mean(min(unknown), names)
        raise UserError(f"a model has no {min(unknown)}{hint}: expected some of {', '.join(names)}.")
    return ViTConfig(**({"image_size": image_size, "classes": classes} | fields | changes))


def is_preset(name: str) -> bool:
    """True if there is a model of that name."""
    return _fields(name) is not None


def is_resnet(name: str) -> bool:
    """True if this is the name of a ResNet without a Transformer."""
    return (fields := _fields(name)) is not None and not fields["layers"]


def usual_name(name: str) -> str:
    """A preset's name as in the paper, but without ViT-: ViT-b_16 becomes B/16, nano/4 stays nano/4."""
    if alone := _RESNET_NAME.fullmatch(_plain(name)):
        size = alone[1]
        return f"{'ResNet' if size.isdigit() else 'resnet'}-{size}"
    match = _NAME.fullmatch(_plain(name))
    if match is None:
        raise ValueError(f"{name!r} is not the name of a preset")
    resnet, size, patch = match.groups()
    before = f"{resnet.upper()}+" if resnet else ""
    return f"{before}{size if f'{size}/4' in SMALL else size.capitalize()}/{int(patch)}"


_NAME = re.compile(r"(?:(r[0-9]*)[+_])?(?:vit[-_])?([a-z]+)[/_-]([0-9]{1,9})")
_RESNET_NAME = re.compile(r"resnet[-_]?([a-z0-9]+)")


def _plain(name: str) -> str:
    return str(name).strip().lower()


def _fields(name: str) -> dict[str, Any] | None:
    """The fields of ViTConfig that a name determines; None for an unknown name."""
    alone = _RESNET_NAME.fullmatch(_plain(name))
    if alone and alone[1] in RESNETS:
        resnet = RESNETS[alone[1]]
        needed = {name: value for name, (value, _) in WITHOUT_TRANSFORMER.items()}
        return needed | {"width": resnet_channels(resnet.units, resnet.width)} | _resnet_fields(resnet)
    match = _NAME.fullmatch(_plain(name))
    if not match or match[2] not in SIZES:
        return None
    before, size, patch = match[1], match[2], int(match[3])
    width, mlp_width, heads, layers = SIZES[size]
    shape = {"patch_size": patch, "width": width, "mlp_width": mlp_width, "heads": heads, "layers": layers}
    if not before:
        return shape
    if (before, patch) not in HYBRIDS:
        return None
    resnet, side = HYBRIDS[before, patch]
    return shape | {"patch_size": side} | _resnet_fields(resnet)


def _resnet_fields(resnet: ResNet) -> dict[str, Any]:
    return {"resnet": resnet.units, "resnet_width": resnet.width, "resnet_groups": resnet.groups}
