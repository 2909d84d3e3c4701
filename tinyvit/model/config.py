"""The configuration of a Vision Transformer: the numbers that determine its shape and its arithmetic."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from numbers import Integral
from typing import Any

from tinyvit.errors import UserError
from tinyvit.ops import GELU_FORMS

_COUNTS = (
    "patch_size",
    "width",
    "mlp_width",
    "heads",
    "layers",
    "classes",
    "channels",
    "resnet_width",
    "resnet_groups",
)


def resnet_scale(resnet: tuple[int, ...] | None) -> int:
    """How many times smaller than the image the feature map of a ResNet is; 1 if there is none.

    The root makes it 4 times smaller, and every stage but the first halves it once more.
    """
    return 1 if resnet is None else 2 ** (2 + max(len(resnet) - 1, 0))


@dataclass(frozen=True)
class ViTConfig:
    """Shape and arithmetic of a ViT (paper Table 1; numerics as in the official code).

    image_size is (height, width) in pixels, or one number for a square. With pool 'token' the head reads the
    class token; with 'mean' it reads the average of the patch tokens, and there is no class token. pre_logits
    is the width of an extra tanh layer before the head, or 0 for none. drop_path is the rate of the last
    block; the rate rises linearly from 0 at the first block.

    A hybrid has a ResNet before the Transformer: resnet lists how many bottleneck units each of its stages
    has, and () is a root without stages. The patches, of patch_size x patch_size, are then cut from its
    feature map. resnet_width is the number of channels of its root, and resnet_groups that of its GroupNorms.
    resnet is None for a plain ViT, and the other two have no meaning.

    predicts is 'image' or 'patches'. With 'patches' the head reads the token of every patch, and classes is
    how many numbers it predicts for each (see objectives.masked_patches); pool then only decides whether a
    class token takes part, so that it can be trained further with labels.
    """

    image_size: tuple[int, int] | int
    patch_size: int
    width: int
    mlp_width: int
    heads: int
    layers: int
    classes: int
    pool: str = "token"
    pre_logits: int = 0
    gelu: str = "tanh"
    eps: float = 1e-6
    dropout: float = 0.0
    attention_dropout: float = 0.0
    drop_path: float = 0.0
    channels: int = 3
    resnet: tuple[int, ...] | None = None
    resnet_width: int = 64
    resnet_groups: int = 32
    predicts: str = "image"

    def __post_init__(self) -> None:
        """Normalise the image size; raise UserError if the numbers are inconsistent."""
        size = self.image_size
        sides = (size, size) if isinstance(size, Integral) else size
        if not (isinstance(sides, tuple | list) and len(sides) == 2):
            raise UserError(f"image_size is {size!r}, expected a whole number of pixels, or (height, width).")
        if not all(isinstance(side, Integral) for side in sides):
            raise UserError(f"image_size is {size!r}, expected whole numbers of pixels.")
        object.__setattr__(self, "image_size", tuple(map(int, sides)))
        self._check_resnet()
        for name in _COUNTS:
            value = getattr(self, name)
            if not isinstance(value, Integral) or value < 1:
                raise UserError(f"{name} is {value!r}, expected a whole number, 1 or more.")
            object.__setattr__(self, name, int(value))  # a number of NumPy's would not go into a JSON file
        if not 0 < self.eps < 1:
            raise UserError(f"eps is {self.eps}, expected a small number above 0.")
        self._check_patches()
        if self.width % self.heads:
            raise UserError(
                f"width {self.width} is not divisible by {self.heads} heads: choose another number of heads."
            )
        if self.pool not in ("token", "mean"):
            raise UserError(f"pool is {self.pool!r}, expected 'token' or 'mean'.")
        if self.predicts not in ("image", "patches"):
            raise UserError(f"predicts is {self.predicts!r}, expected 'image' or 'patches'.")
        if self.gelu not in GELU_FORMS:
            raise UserError(f"gelu is {self.gelu!r}, expected one of {', '.join(GELU_FORMS)}.")
        for name in ("dropout", "attention_dropout", "drop_path"):
            if not 0 <= getattr(self, name) < 1:
                raise UserError(f"{name} is {getattr(self, name)}, expected a rate in [0, 1).")

    def _check_resnet(self) -> None:
        """Raise UserError unless resnet is None, or whole numbers of units, which become a tuple."""
        if self.resnet is None:
            return
        counts = self.resnet
        if not isinstance(counts, tuple | list) or not all(isinstance(n, Integral) and n > 0 for n in counts):
            raise UserError(
                f"resnet is {counts!r}, expected the number of units in each stage, as in (3, 4, 9), or None."
            )
        object.__setattr__(self, "resnet", tuple(map(int, counts)))

    def _check_patches(self) -> None:
        """Raise UserError unless patches divide the images, or a hybrid's feature map."""
        H, W = self.image_size
        P = self.patch_size
        if self.resnet is not None:
            if self.resnet_width % self.resnet_groups:
                raise UserError(
                    f"resnet_width {self.resnet_width} is not divisible by {self.resnet_groups} groups: "
                    "choose another resnet_width or resnet_groups."
                )
            h, w, _ = self.feature_map
            if h % P or w % P or not h or not w:
                side = self.pixels_per_patch
                raise UserError(
                    f"the ResNet turns images of {H} x {W} pixels into a map of {h} x {w}, which patches of "
                    f"{P} x {P} do not divide: choose images whose sides are multiples of {side} pixels."
                )
            return
        if H < P or W < P:
            raise UserError(
                f"images of {H} x {W} pixels are smaller than one patch of {P} x {P}: choose a model with "
                "a smaller patch (the number after the / in its name) or larger images."
            )
        if H % P or W % P:
            raise UserError(
                f"patches of {P} x {P} do not divide images of {H} x {W} pixels: choose a patch size (the "
                "number after the / in the model's name) that divides both sides."
            )

    @property
    def is_hybrid(self) -> bool:
        """Whether a ResNet reads the image before the Transformer does."""
        return self.resnet is not None

    @property
    def feature_map(self) -> tuple[int, int, int]:
        """Height, width and channels of what is cut into patches: the image, or the result of the ResNet.

        The root halves the image twice, and so does every stage but the first, once; halves are rounded up.
        """
        H, W = self.image_size
        if self.resnet is None:
            return H, W, self.channels
        scale = resnet_scale(self.resnet)
        stages = len(self.resnet)
        channels = 4 * self.resnet_width * 2 ** (stages - 1) if stages else self.resnet_width
        return -(-H // scale), -(-W // scale), channels

    @property
    def pixels_per_patch(self) -> int:
        """The side of a patch in pixels of the image; patch_size is its side in a hybrid's feature map."""
        return self.patch_size * resnet_scale(self.resnet)

    @property
    def grid(self) -> tuple[int, int]:
        """The number of patches down and across."""
        height, width, _ = self.feature_map
        return height // self.patch_size, width // self.patch_size

    @property
    def patches(self) -> int:
        """T: the number of patches."""
        return self.grid[0] * self.grid[1]

    @property
    def predicts_patches(self) -> bool:
        """Whether it predicts the contents of patches, as in pre-training without labels."""
        return self.predicts == "patches"

    @property
    def has_token(self) -> bool:
        """Whether a class token precedes the patch tokens."""
        return self.pool == "token"

    @property
    def tokens(self) -> int:
        """N: the number of patches, plus one for the class token if there is one."""
        return self.patches + self.has_token

    def rows_after(self, layer: int) -> int | None:
        """How many tokens block `layer` has to return: all (None), or 1 if only the class token is needed.

        In the last block of a class-token model, no other token reaches the logits, unless it predicts
        patches.
        """
        only_token = self.has_token and not self.predicts_patches
        return 1 if only_token and layer == self.layers - 1 else None

    def drop_path_rate(self, layer: int) -> float:
        """Stochastic-depth rate of block `layer`, counted from 0."""
        return self.drop_path * layer / max(self.layers - 1, 1)

    def as_dict(self) -> dict[str, Any]:
        """The fields, for a JSON file; ViTConfig(**fields) restores the configuration."""
        return asdict(self)
