"""The configuration of a model: the numbers that determine its shape and its arithmetic."""

from dataclasses import asdict, dataclass
from numbers import Integral, Real
from typing import Any

from tinyvit.errors import UserError
from tinyvit.limits import LARGEST, MOST_LAYERS, MOST_PIXELS
from tinyvit.ops import GELU_FORMS


@dataclass(frozen=True)
class Rotary:
    """theta, reach, offset and shift of the equations above.

    columns_first: x comes before y in (3). pairs: which numbers are a point (see ops.rotary.Turn). learned:
    each head has frequencies of its own, as in (4).
    """

    theta: float = 100.0
    reach: float = 0.0
    offset: float = 0.0
    shift: float = 0.0
    columns_first: bool = False
    pairs: bool = True
    learned: bool = False


_COUNTS = (
    "patch_size",
    "width",
    "mlp_width",
    "heads",
    "layers",
    "classes",
    "channels",
    "pre_logits",
    "resnet_width",
    "resnet_groups",
    "registers",
    "pool_heads",
    "pool_mlp_width",
)
_MAY_BE_0 = ("layers", "pre_logits", "registers", "pool_heads", "pool_mlp_width")
_RATES = ("dropout", "attention_dropout", "drop_path", "patch_dropout")
RESNET_FORMS = ("official", "timm")
# What these must be in a ResNet on its own, where nothing else would have a meaning, and why.
WITHOUT_TRANSFORMER = {
    "layers": (0, "it has no blocks"),
    "patch_size": (1, "each position of its feature map is a token"),
    "mlp_width": (0, "it has no MLP"),
    "heads": (0, "it has no attention"),
    "pool": ("mean", "it has no class token"),
    "predicts": ("image", "it has no patches to hide"),
    "position": ("none", "its convolutions know what lies beside what"),
    "dropout": (0, "only a Transformer has dropout"),
    "attention_dropout": (0, "it has no attention"),
    "drop_path": (0, "only blocks of a Transformer are skipped"),
}
POSITIONS = ("1d", "2d", "sincos", "relative", "bias", "none")
PLACES = ("stem", "blocks", "shared")
PREDICTED = ("image", "patches", "embedding")
POOLS = ("token", "mean", "both", "distilled", "attention")
READS_TOKEN = ("token", "both", "distilled")
# What later ViTs than the paper's have, and how it is in the paper's; see ViTConfig.
LATER_PARTS: dict[str, Any] = {
    "class_token": None,
    "registers": 0,
    "position_on": "class",
    "rotary": None,
    "pre_norm": False,
    "patch_bias": True,
    "qkv_bias": "all",
    "qk_norm": False,
    "attention_norm": False,
    "gated": False,
    "mlp_norm": False,
    "layer_scale": 0.0,
    "final_norm": "tokens",
    "pool_heads": 0,
    "pool_mlp_width": 0,
    "pool_all": False,
    "head_bias": True,
    "causal": False,
    "patch_dropout": 0.0,
}
_CHOICES = {
    "position_on": ("class", "patches", "all"),
    "qkv_bias": ("all", "qv", "none"),
    "final_norm": ("tokens", "pooled", "none"),
}


def places_of(position: str) -> tuple[str, ...]:
    """Where positions of a kind can be, the usual place first; nowhere if there are none."""
    return {"none": (), "relative": ("blocks", "shared"), "bias": ("blocks", "shared")}.get(position, PLACES)


def resnet_scale(resnet: tuple[int, ...] | None) -> int:
    """How many times smaller than the image the feature map of a ResNet is; 1 if there is none.

    The root makes it 4 times smaller, and every stage but the first halves it once more.
    """
    return 1 if resnet is None else 2 ** (2 + max(len(resnet) - 1, 0))


def resnet_channels(resnet: tuple[int, ...], resnet_width: int) -> int:
    """How many channels the feature map of a ResNet has: those of its root, or of its last stage."""
    return 4 * resnet_width * 2 ** (len(resnet) - 1) if resnet else resnet_width


@dataclass(frozen=True)
class ViTConfig:
    """Shape and arithmetic of a ViT, a hybrid or a ResNet (paper Table 1; numerics as in the official code).

    image_size is (height, width) in pixels, or one number for a square. With pool 'token' the head reads the
    class token; with 'mean' it reads the average of the patch tokens, and there is no class token. pre_logits
    is the width of an extra tanh layer before the head, or 0 for none. drop_path is the rate of the last
    of several blocks, to which it rises linearly from 0 at the first block.

    A hybrid has a ResNet before the Transformer: resnet lists how many bottleneck units each of its stages
    has, and () is a root without stages. The patches, of patch_size x patch_size, are then cut from its
    feature map. resnet_width is the number of channels of its root, and resnet_groups that of its GroupNorms.
    resnet_form says whose epsilons it has, those of the 'official' code or of 'timm' (see model/resnet.py).
    resnet is None for a plain ViT, and the other three have no meaning.

    With 0 layers there is no Transformer: the model is a ResNet on its own, which needs stages. Its tokens
    are the positions of its feature map, whose channels are the width, and the head reads their mean. So
    patch_size is 1 and pool 'mean'; mlp_width, heads and all three rates are 0, and position 'none'.

    position is the kind of position embedding (see model.positions): '1d', a learned vector for each token;
    '2d', one for each row and each column of patches; 'sincos', fixed sines and cosines of both; 'relative',
    a learned vector for each offset between two tokens, which changes the scores of attention; 'bias', a
    learned score for each offset in the plane and each head, as in BEiT; or 'none'.
    position_at says where: at the 'stem', once; in all 'blocks', with a table for each; or in all blocks with
    one 'shared' table. None stands for the usual place: the stem, or the blocks for 'relative' and 'bias'.

    Later ViTs differ from the paper's in the following fields, whose defaults are the paper's:

    class_token     whether there is one; None if only where pool reads it
    registers       how many learned tokens stand between it and the patches; no head reads them
    position_on     which tokens a table of positions has rows for: those of the patches and of the 'class'
                    (and distillation) token, of the 'patches' alone, or of 'all'
    rotary          how queries and keys turn with their place, a model.rotary.Rotary, or None
    pre_norm        a LayerNorm before the first block
    patch_bias, head_bias, qkv_bias    whether they have biases; 'qv' means that keys have none
    qk_norm         a LayerNorm of each head's queries and keys; attention_norm, of all heads' outputs
    gated           a gated MLP (see ops.gate); mlp_norm, a LayerNorm within the MLP, gated or not
    layer_scale     the first value of LayerScale's gains; 0 if there are none
    final_norm      whether the last LayerNorm acts on the 'tokens', or on what is 'pooled' of them, or 'none'
    pool_heads      the heads of pool 'attention', and pool_mlp_width the width of its MLP, 0 for those of the
                    blocks; pool_all, whether it reads all tokens, or the patches alone
    causal          tokens attend to themselves and to those before them alone: for texts, see words.text
    patch_dropout   the share of each image's patches that are dropped in training, chosen at random, before
                    the first block (Liu et al. 2022)

    They also have other values of two: gelu may be any of ops.GELU_FORMS; and of pool, 'both' joins class
    token and mean, (2D,), 'distilled' has a second token, with a head of its own, and averages the two
    answers, and 'attention' pools with ops.attention_pool, and adds an MLP.

    predicts is 'image', 'patches' or 'embedding'. With 'patches' the head reads the token of every patch, and
    classes is how many numbers it predicts for each (see objectives.patch_targets); pool then only decides
    whether a class token takes part, so that it can be trained further with labels. With 'embedding' the head
    is no classifier: it maps the image into a space that it shares with texts, of `classes` dimensions.
    """

    image_size: tuple[int, int]  # what is read; one number is accepted too, if a type checker does not look
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
    resnet_form: str = "official"
    position: str = "1d"
    position_at: str | None = None
    predicts: str = "image"
    class_token: bool | None = None
    registers: int = 0
    position_on: str = "class"
    rotary: Rotary | None = None
    pre_norm: bool = False
    patch_bias: bool = True
    qkv_bias: str = "all"
    qk_norm: bool = False
    attention_norm: bool = False
    gated: bool = False
    mlp_norm: bool = False
    layer_scale: float = 0.0
    final_norm: str = "tokens"
    pool_heads: int = 0
    pool_mlp_width: int = 0
    pool_all: bool = False
    head_bias: bool = True
    causal: bool = False
    patch_dropout: float = 0.0

    def __post_init__(self) -> None:
        """Normalise image size and place of positions; raise UserError if the fields are inconsistent."""
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
        self._check_resnet()
        for name in _COUNTS:
            value: Any = getattr(self, name)
            may_be_0 = _MAY_BE_0 + (tuple(WITHOUT_TRANSFORMER) if self.layers == 0 else ())
            least = 0 if name in may_be_0 else 1
            if not isinstance(value, Integral) or int(value) < least:
                raise UserError(f"{name} is {value!r}, expected a whole number, {least} or more.")
            most = MOST_LAYERS if name == "layers" else LARGEST
            if int(value) > most:
                raise UserError(f"{name} is {value:,}, expected at most {most:,}.")
            object.__setattr__(self, name, int(value))  # a number of NumPy's would not go into a JSON file
        for name in ("eps", "layer_scale", *_RATES):
            value = getattr(self, name)
            if not isinstance(value, Real):
                raise UserError(f"{name} is {value!r}, expected a number.")
            object.__setattr__(self, name, float(value))  # as above
        if not 0 < self.eps < 1:
            raise UserError(f"eps is {self.eps}, expected a small number above 0.")
        if not self.has_transformer:
            self._check_resnet_alone()
        self._check_patches()
        if self.has_transformer and self.width % self.heads:
            raise UserError(
                f"width {self.width} is not divisible by {self.heads} heads: choose another number of heads."
            )
        if self.pool not in POOLS:
            raise UserError(f"pool is {self.pool!r}, expected one of {', '.join(POOLS)}.")
        self._check_later_parts()
        if self.predicts not in PREDICTED:
            raise UserError(f"predicts is {self.predicts!r}, expected one of {', '.join(PREDICTED)}.")
        if self.gelu not in GELU_FORMS:
            raise UserError(f"gelu is {self.gelu!r}, expected one of {', '.join(GELU_FORMS)}.")
        if self.resnet_form not in RESNET_FORMS:
            raise UserError(
                f"resnet_form is {self.resnet_form!r}, expected one of {', '.join(RESNET_FORMS)}."
            )
        for name in _RATES:
            if not 0 <= getattr(self, name) < 1:
                raise UserError(f"{name} is {getattr(self, name)}, expected a rate in [0, 1).")
        self._check_positions()

    def _check_resnet(self) -> None:
        """Raise UserError unless resnet is None, or whole numbers of units, which become a tuple."""
        if self.resnet is None:
            return
        counts: Any = self.resnet
        whole = isinstance(counts, tuple | list) and all(isinstance(n, Integral) for n in counts)
        if not whole or any(n < 1 for n in counts):
            raise UserError(
                f"resnet is {counts!r}, expected the number of units in each stage, as in (3, 4, 9), or None."
            )
        if sum(counts) > MOST_LAYERS:
            raise UserError(f"resnet is {counts!r}, expected at most {MOST_LAYERS:,} units.")
        object.__setattr__(self, "resnet", tuple(map(int, counts)))

    def _check_resnet_alone(self) -> None:
        """Raise UserError unless the fields are those of a ResNet without a Transformer."""
        if not self.resnet:
            raise UserError(
                "a model with 0 layers is a ResNet on its own, which needs stages: give their units as "
                "resnet, as in (3, 4, 6, 3), or give the model 1 layer or more."
            )
        channels = resnet_channels(self.resnet, self.resnet_width)
        needed = WITHOUT_TRANSFORMER | {"width": (channels, "that is the channels of its feature map")}
        for name, (value, why) in needed.items():
            if getattr(self, name) != value:
                raise UserError(
                    f"{name} is {getattr(self, name)!r}, but must be {value!r} in a ResNet without a "
                    f"Transformer (0 layers): {why}."
                )

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
            if h % P or w % P:
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

    def _check_later_parts(self) -> None:
        """Raise UserError unless the parts of later ViTs fit."""
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                raise UserError(f"{name} is {getattr(self, name)!r}, expected one of {', '.join(choices)}.")
        for name, paper in LATER_PARTS.items():
            value = getattr(self, name)
            if isinstance(paper, bool) and not isinstance(value, bool):
                raise UserError(f"{name} is {value!r}, expected True or False.")
        if self.class_token not in (None, True, False):
            raise UserError(f"class_token is {self.class_token!r}, expected True, False or None.")
        if isinstance(self.rotary, dict):  # from a JSON file
            object.__setattr__(self, "rotary", Rotary(**self.rotary))
        if self.rotary is not None and not isinstance(self.rotary, Rotary):
            raise UserError(f"rotary is {self.rotary!r}, expected a model.rotary.Rotary or None.")
        if self.rotary and self.head_width % 4:
            raise UserError(
                f"heads of width {self.head_width} cannot turn with rows and columns: rotary positions need "
                "a multiple of 4."
            )
        if self.reads_token and not self.has_token:
            raise UserError(f"pool {self.pool!r} reads a class token: omit class_token, or choose 'mean'.")
        if self.pool_all and self.pool != "attention":
            raise UserError(f"pool_all is for pool 'attention', not {self.pool!r}: omit it.")
        if self.pool == "both" and self.final_norm == "pooled":
            raise UserError("pool 'both' is for tokens that are normalised: final_norm must be 'tokens'.")
        counting = self.position in ("relative", "bias") or self.position_at in ("blocks", "shared")
        if self.patch_dropout and (counting or self.rotary or self.causal or self.predicts_patches):
            raise UserError(
                f"patch_dropout is {self.patch_dropout:g}, expected 0: a model that predicts patches, is "
                "causal, or has positions in its blocks cannot drop patches."
            )
        if self.trained_tokens == self.prefix:
            raise UserError(
                f"patch_dropout {self.patch_dropout:g} drops all {self.patches} patches: expected at most "
                f"{(self.patches - 1) / self.patches:.3g}."
            )
        if self.causal and self.pool != "mean":
            raise UserError(f"pool is {self.pool!r}, expected 'mean' in a causal model.")
        if self.layer_scale < 0:
            raise UserError(f"layer_scale is {self.layer_scale}, expected 0 or more.")
        if self.width % (self.pool_heads or 1):
            raise UserError(f"width {self.width} is not divisible by {self.pool_heads} heads of its pool.")
        others = self.later_parts
        if self.predicts_patches and (self.pool not in ("token", "mean") or "final_norm" in others):
            raise UserError("a model that predicts patches has pool 'token' or 'mean', and norms all tokens.")
        if others and not self.has_transformer:
            raise UserError(f"{next(iter(others))} belongs to a Transformer, which a ResNet does not have.")
        if (self.registers or self.has_token != self.reads_token) and self.position == "relative":
            raise UserError("relative positions are for a class token and patches: omit registers.")
        if (self.registers or self.pool == "distilled") and self.position == "bias":
            raise UserError("positions 'bias' are for a class token and patches: omit registers.")

    def _check_positions(self) -> None:
        """Raise UserError unless kind and place of the positions fit; fill in the place if it is None."""
        kind = self.position
        if kind not in POSITIONS:
            raise UserError(f"position is {kind!r}, expected one of {', '.join(POSITIONS)}.")
        divisor = {"2d": 2, "sincos": 4}.get(kind, 1)
        if self.width % divisor:
            raise UserError(f"width {self.width} is not divisible by {divisor}, as {kind} positions need.")
        places = places_of(kind)
        if self.position_at is None:
            object.__setattr__(self, "position_at", next(iter(places), None))
        elif self.position_at not in places:
            expected = f"one of {', '.join(places)}" if places else "none: omit it"
            raise UserError(
                f"position_at is {self.position_at!r}, but for position {kind!r}, expected {expected}."
            )

    @property
    def has_resnet(self) -> bool:
        """Whether a ResNet reads the image: before the Transformer in a hybrid, or on its own."""
        return self.resnet is not None

    @property
    def has_transformer(self) -> bool:
        """Whether there is a Transformer, with everything around it; if not, this is a ResNet on its own."""
        return self.layers > 0

    @property
    def feature_map(self) -> tuple[int, int, int]:
        """Height, width and channels of what is cut into patches: the image, or the result of the ResNet.

        The root halves the image twice, and so does every stage but the first, once; halves are rounded up.
        """
        H, W = self.image_size
        if self.resnet is None:
            return H, W, self.channels
        scale = resnet_scale(self.resnet)
        return -(-H // scale), -(-W // scale), resnet_channels(self.resnet, self.resnet_width)

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
    def later_parts(self) -> dict[str, Any]:
        """The fields in which it is not the paper's ViT but a later one, and what they are."""
        parts = {
            name: getattr(self, name) for name, paper in LATER_PARTS.items() if getattr(self, name) != paper
        }
        if self.has_token == self.reads_token:
            parts.pop("class_token", None)
        if self.position == "bias":
            parts["position"] = "bias"
        if self.gelu not in ("tanh", "exact"):
            parts["gelu"] = self.gelu
        return parts if self.pool in ("token", "mean") else {"pool": self.pool} | parts

    @property
    def reads_token(self) -> bool:
        """Whether the class token is read: by the head, alone or with others."""
        return self.pool in READS_TOKEN

    @property
    def has_token(self) -> bool:
        """Whether a class token precedes the patch tokens."""
        return self.reads_token if self.class_token is None else self.class_token

    @property
    def head_width(self) -> int:
        """K: the width of a head."""
        return self.width // max(self.heads, 1)

    @property
    def read_tokens(self) -> int:
        """How many tokens before the patches were learned to be read: class token and distillation token."""
        return self.has_token + (self.pool == "distilled")

    @property
    def prefix(self) -> int:
        """How many tokens precede those of the patches: class token, distillation token, registers."""
        return self.read_tokens + self.registers

    @property
    def tokens(self) -> int:
        """N: the number of patches, and of the tokens before them."""
        return self.patches + self.prefix

    @property
    def trained_tokens(self) -> int:
        """How many tokens go through the blocks in training."""
        return self.tokens - round(self.patch_dropout * self.patches)

    @property
    def position_rows(self) -> int:
        """How many of the tokens before the patches a learned table of positions has rows for."""
        return {"class": self.read_tokens, "patches": 0, "all": self.prefix}[self.position_on]

    @property
    def pooled_width(self) -> int:
        """Width of the vector that the pooling returns."""
        return 2 * self.width if self.pool == "both" else self.width

    @property
    def feature_width(self) -> int:
        """Width of the features, the input of the head."""
        return self.pre_logits or self.pooled_width

    @property
    def drops(self) -> bool:
        """True if something is dropped at random in training."""
        return any(getattr(self, rate) > 0 for rate in _RATES)

    @property
    def is_paper(self) -> bool:
        """True for the paper's main model: class token, learned positions at the stem, a linear head."""
        variants = (self.pool, self.pre_logits, self.resnet, self.position, self.position_at, self.predicts)
        return variants == ("token", 0, None, "1d", "stem", "image") and not self.later_parts.keys() - {
            "gelu"
        }

    def tokens_needed_after(self, layer: int) -> int | None:
        """How many tokens block `layer` has to return: all (None), or 1 if only the class token is needed.

        In the last block of a class-token model, no other token reaches the logits, unless it predicts
        patches.
        """
        only_token = self.pool == "token" and not self.predicts_patches
        return 1 if only_token and layer == self.layers - 1 else None

    def drop_path_rate(self, layer: int) -> float:
        """Stochastic-depth rate of block `layer`, counted from 0."""
        return self.drop_path * layer / max(self.layers - 1, 1)

    def as_dict(self) -> dict[str, Any]:
        """The fields, for a JSON file; ViTConfig(**fields) restores the configuration.

        Those of later ViTs are left out where they are the paper's.
        """
        later = self.later_parts
        return {
            name: value for name, value in asdict(self).items() if name not in LATER_PARTS or name in later
        }
