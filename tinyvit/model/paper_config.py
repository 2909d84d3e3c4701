"""The configuration of the paper's model: the numbers that determine its shape and its arithmetic."""

import math
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

from tinyvit.ops import GELU_FORMS
from tinyvit.support.errors import UserError
from tinyvit.support.limits import LARGEST, MOST_LAYERS, MOST_PIXELS


def is_finite(value: Any) -> bool:
    """True for a number that is one as a float, too."""
    try:
        return isinstance(value, Real) and math.isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False


@dataclass(frozen=True)
class PaperConfig:
    """Shape and arithmetic of a ViT (paper Table 1 and section 3.1; numerics as in the official code).

    image_size is (height, width) in pixels, or one number for a square; patch_size is the side of a patch.
    width is D, and mlp_width the width M of the hidden layer of each MLP. gelu is one of ops.GELU_FORMS, and
    eps the epsilon of every LayerNorm. channels is the number of channels of an image.

    ViTConfig extends it with the fields of all other models.
    """

    image_size: tuple[int, int]  # one number, for a square, is accepted too, though the type omits it
    patch_size: int
    width: int
    mlp_width: int
    heads: int
    layers: int
    classes: int
    gelu: str = "tanh"
    eps: float = 1e-6
    channels: int = 3
    is_paper: ClassVar[bool] = True  # in a ViTConfig, True if the fields it adds have their defaults

    def __post_init__(self) -> None:
        """Normalise the numbers. Raises UserError if the fields are inconsistent."""
        self._check_image_size()
        for name in ("patch_size", "width", "mlp_width", "heads", "layers", "classes", "channels"):
            self.check_count(name)
        self.check_number("eps")
        if not 0 < self.eps < 1:
            raise UserError(f"eps is {self.eps}, expected a small number above 0.")
        self.check_choice("gelu", GELU_FORMS)
        self._check_patches()
        if self.heads and self.width % self.heads:
            raise UserError(
                f"width {self.width} is not divisible by {self.heads} heads: choose another number of heads."
            )

    def _check_image_size(self) -> None:
        size: Any = self.image_size
        sides: Any = (size, size) if isinstance(size, Integral) else size
        if not (isinstance(sides, tuple | list) and len(sides) == 2):
            raise UserError(f"image_size is {size!r}, expected a whole number of pixels, or (height, width).")
        if not all(isinstance(side, Integral) for side in sides):
            raise UserError(f"image_size is {size!r}, expected whole numbers of pixels.")
        if min(sides) < 1:
            raise UserError(f"image_size is {size!r}, expected at least 1 pixel on each side.")
        if max(sides) > MOST_PIXELS:
            raise UserError(f"image_size is {size!r}, expected at most {MOST_PIXELS:,} pixels on each side.")
        object.__setattr__(self, "image_size", tuple(map(int, sides)))

    def _check_patches(self) -> None:
        """Raise UserError unless patches divide the images."""
        (H, W), P = self.image_size, self.patch_size
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

    def least(self, name: str) -> int:
        """The smallest value that a count may have."""
        return 1

    def check_count(self, name: str) -> None:
        """Raise UserError unless the field is a whole number, large enough, which becomes an int."""
        value, least = getattr(self, name), self.least(name)
        if not isinstance(value, Integral) or int(value) < least:
            raise UserError(f"{name} is {value!r}, expected a whole number, {least} or more.")
        most = MOST_LAYERS if name == "layers" else LARGEST
        if int(value) > most:
            raise UserError(f"{name} is {value:,}, expected at most {most:,}.")
        object.__setattr__(self, name, int(value))  # JSON has no place for NumPy's numbers

    def check_number(self, name: str) -> None:
        """Raise UserError unless the field is a finite number, which becomes a float."""
        if not is_finite(value := getattr(self, name)):
            raise UserError(f"{name} is {value!r}, expected a finite number.")
        object.__setattr__(self, name, float(value))  # as above

    def check_choice(self, name: str, choices: tuple[str, ...]) -> None:
        """Raise UserError unless the field is one of the choices."""
        if getattr(self, name) not in choices:
            raise UserError(f"{name} is {getattr(self, name)!r}, expected one of {', '.join(choices)}.")

    @property
    def feature_map(self) -> tuple[int, int, int]:
        """Height, width and channels of what is cut into patches: here, the image."""
        return *self.image_size, self.channels

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
    def tokens(self) -> int:
        """N: the number of tokens, the patches and the class token."""
        return self.patches + 1

    @property
    def head_width(self) -> int:
        """K: the width of a head."""
        return self.width // max(self.heads, 1)

    @property
    def feature_width(self) -> int:
        """Width of the features, the input of the head."""
        return self.width
