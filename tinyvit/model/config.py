"""The configuration of any model: the paper's, its variants, and models that came later."""

from dataclasses import asdict, dataclass, fields
from numbers import Integral
from typing import Any

from tinyvit.model.paper_config import PaperConfig, is_finite
from tinyvit.support.errors import UserError
from tinyvit.support.limits import MOST_LAYERS


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

    def __post_init__(self) -> None:
        for name in ("theta", "reach", "offset", "shift"):
            value = getattr(self, name)
            if not is_finite(value) or (name == "theta" and value <= 0):
                least = " above 0" if name == "theta" else ""
                raise UserError(f"{name} of rotary is {value!r}, expected a finite number{least}.")
            object.__setattr__(self, name, float(value))
        for name in ("columns_first", "pairs", "learned"):
            if not isinstance(value := getattr(self, name), bool):
                raise UserError(f"{name} of rotary is {value!r}, expected True or False.")


_MAY_BE_0 = ("layers", "pre_logits", "registers", "merge_after", "pool_heads", "pool_mlp_width")
_COUNTS = (*_MAY_BE_0[1:], "resnet_width", "resnet_groups")
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
_CHOICES = {
    "pool": POOLS,
    "predicts": PREDICTED,
    "position": POSITIONS,
    "resnet_form": RESNET_FORMS,
    "position_on": ("class", "patches", "all"),
    "qkv_bias": ("all", "qv", "none"),
    "final_norm": ("tokens", "pooled", "none"),
}


def places_of(position: str) -> tuple[str, ...]:
    """The places where positions of a kind can be, the usual one first; none if there are no positions."""
    return {"none": (), "relative": ("blocks", "shared"), "bias": ("blocks", "shared")}.get(position, PLACES)


def resnet_scale(resnet: tuple[int, ...] | None) -> int:
    """Factor by which the feature map of a ResNet is smaller than the image; 1 without a ResNet.

    The root makes it 4 times smaller, and every stage but the first halves it once more.
    """
    return 1 if resnet is None else 2 ** (2 + max(len(resnet) - 1, 0))


def resnet_channels(resnet: tuple[int, ...], resnet_width: int) -> int:
    """Number of channels of the feature map of a ResNet: of its root, or of its last stage."""
    return 4 * resnet_width * 2 ** (len(resnet) - 1) if resnet else resnet_width


@dataclass(frozen=True)
class ViTConfig(PaperConfig):
    """Shape and arithmetic of a ViT, a hybrid or a ResNet. The defaults are the paper's main model.

    Variants of the paper:

    pool            what the head reads (appendix D.3): the class 'token', or the 'mean' of the patches. Later
                    models: 'both' side by side, (2D,); 'distilled', a second token with a head of its own,
                    whose answer is averaged with the first; 'attention', by a learned query and an MLP
    pre_logits      width of a tanh layer before the head (section 3.1), 0 for none
    position        position embedding (appendix D.4): '1d', a learned vector for each token; '2d', one for
                    each row and each column of patches; 'sincos', fixed sines and cosines of both;
                    'relative', a learned vector for each offset between two tokens, which changes the scores
                    of attention; 'bias', a learned score for each offset in the plane and each head, as in
                    BEiT; or 'none'
    position_at     where it acts: at the 'stem', once; in all 'blocks', with a table for each; or in all
                    blocks with one 'shared' table. None stands for the usual place: the stem, or the blocks
                    for 'relative' and 'bias'
    predicts        'image', or 'patches' (appendix B.1.2): the head reads the token of every patch, classes
                    is the number of values it predicts for each (see objectives.masked_patches), and pool
                    only decides if there is a class token; or 'embedding': the head maps the image into a
                    space of `classes` dimensions that it shares with texts

    Training only (see model.later.dropout and dropped_patches):

    dropout, attention_dropout    rates of dropout
    drop_path       rate of stochastic depth in the last of several blocks; it rises linearly from 0
    patch_dropout   share of each image's patches that are dropped before the first block

    A hybrid, or with 0 layers a ResNet alone (see model.later.resnet):

    resnet          number of bottleneck units in each stage; () is a root without stages, None no ResNet. The
                    patches of a hybrid are cut from its feature map. A ResNet alone needs stages; its tokens
                    are the positions of its feature map, whose channels are the width, and the head reads
                    their mean: patch_size is 1, mlp_width and heads are 0, and position is 'none'
    resnet_width, resnet_groups    channels of its root, and groups of its GroupNorms
    resnet_form     its epsilons: those of the 'official' code or of 'timm'

    Parts of later models:

    class_token     whether there is one; None if only where pool reads it
    registers       number of learned tokens between it and the patches, which no head reads
    position_on     tokens that a table of positions has rows for: the patches and the 'class' (and
                    distillation) token, the 'patches' only, or 'all'
    rotary          a Rotary rule by which queries and keys are rotated, or None
    pre_norm        a LayerNorm before the first block
    patch_bias, head_bias, qkv_bias    whether they have biases; 'qv' means that keys have none
    qk_norm         a LayerNorm of each head's queries and keys
    attention_norm  a LayerNorm of all heads' outputs
    gated           a gated MLP (see ops.gate)
    mlp_norm        a LayerNorm within the MLP, gated or not
    layer_scale     initial value of LayerScale's gains; 0 if there are none
    final_norm      the last LayerNorm acts on the 'tokens', on what is 'pooled' of them, or there is 'none'
    pool_heads, pool_mlp_width    heads and MLP width of pool 'attention'; 0 for those of the blocks
    pool_all        pool 'attention' reads all tokens, not only the patches
    merge_after     number of blocks after which each square of 2 x 2 patches becomes one token, their mean; 0
                    if patches stay as they are (see model.later.merged_patches)
    causal          each token attends to itself and to the tokens before it (see weights.text)
    parts           names of further parts, such as your own: see model.later
    """

    pool: str = "token"
    pre_logits: int = 0
    dropout: float = 0.0
    attention_dropout: float = 0.0
    drop_path: float = 0.0
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
    merge_after: int = 0
    causal: bool = False
    patch_dropout: float = 0.0
    parts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Normalise the fields. Raises UserError if they are inconsistent."""
        self._check_resnet()
        if isinstance(self.rotary, dict):  # from a JSON file
            try:
                object.__setattr__(self, "rotary", Rotary(**self.rotary))
            except TypeError:
                known = Rotary.__dataclass_fields__
                unknown = ", ".join(map(str, self.rotary.keys() - known))
                raise UserError(f"rotary has {unknown}, expected some of {', '.join(known)}.") from None
        super().__post_init__()
        for name in _COUNTS:
            self.check_count(name)
        for name in ("layer_scale", *_RATES):
            self.check_number(name)
        for name, choices in _CHOICES.items():
            self.check_choice(name, choices)
        for name in _RATES:
            if not 0 <= getattr(self, name) < 1:
                raise UserError(f"{name} is {getattr(self, name)}, expected a rate in [0, 1).")
        for name, paper in LATER_PARTS.items():
            if isinstance(paper, bool) and not isinstance(getattr(self, name), bool):
                raise UserError(f"{name} is {getattr(self, name)!r}, expected True or False.")
        if not isinstance(self.parts, tuple | list) or not all(isinstance(name, str) for name in self.parts):
            raise UserError(f"parts is {self.parts!r}, expected names, as in ('my_part',).")
        object.__setattr__(self, "parts", tuple(self.parts))
        self._check_positions()
        others = [field for field in fields(self) if field.name not in PaperConfig.__dataclass_fields__]
        usual = {field.name: field.default for field in others} | {"position_at": "stem"}
        plain = all(getattr(self, name) == value for name, value in usual.items())
        object.__setattr__(self, "is_paper", plain)
        if not self.is_paper:
            from tinyvit.model.later import check_parts  # the paper's model does not need it

            check_parts(self)

    def least(self, name: str) -> int:
        """The smallest value of a count."""
        return 0 if name in _MAY_BE_0 or (self.layers == 0 and name in WITHOUT_TRANSFORMER) else 1

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
        if not self.has_transformer:
            self._check_resnet_alone()
        if self.resnet is None:
            super()._check_patches()
            return
        self.check_count("resnet_width")
        self.check_count("resnet_groups")
        if self.resnet_width % self.resnet_groups:
            raise UserError(
                f"resnet_width {self.resnet_width} is not divisible by {self.resnet_groups} groups: "
                "choose another resnet_width or resnet_groups."
            )
        (H, W), P, (h, w, _) = self.image_size, self.patch_size, self.feature_map
        if h % P or w % P:
            raise UserError(
                f"the ResNet turns images of {H} x {W} pixels into a map of {h} x {w}, which patches of "
                f"{P} x {P} do not divide: choose images whose sides are multiples of "
                f"{self.pixels_per_patch} pixels."
            )

    def _check_positions(self) -> None:
        """Raise UserError unless kind and place of the positions fit; fill in the place if it is None."""
        kind = self.position
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
        """True if a ResNet reads the image: before the Transformer in a hybrid, or alone."""
        return self.resnet is not None

    @property
    def has_transformer(self) -> bool:
        """True if there is a Transformer; otherwise this is a ResNet alone."""
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
    def predicts_patches(self) -> bool:
        """True if it predicts the contents of patches, as in pre-training without labels."""
        return self.predicts == "patches"

    @property
    def patches_stay(self) -> bool:
        """True if no patch can be dropped or merged: each is predicted, or has its place in the blocks."""
        return self.position_at in PLACES[1:] or bool(self.rotary) or self.causal or self.predicts_patches

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
        parts |= dict.fromkeys(self.parts, True)
        return parts if self.pool in ("token", "mean") else {"pool": self.pool} | parts

    @property
    def reads_token(self) -> bool:
        """True if the head reads the class token, alone or with other tokens."""
        return self.pool in READS_TOKEN

    @property
    def has_token(self) -> bool:
        """True if a class token precedes the patch tokens."""
        return self.reads_token if self.class_token is None else self.class_token

    @property
    def num_special_tokens(self) -> int:
        """Number of class and distillation tokens."""
        return self.has_token + (self.pool == "distilled")

    @property
    def prefix(self) -> int:
        """Number of tokens before the patches: class token, distillation token, registers."""
        return self.num_special_tokens + self.registers

    @property
    def tokens(self) -> int:
        """N: the number of patches and of the tokens before them."""
        return self.patches + self.prefix

    def tokens_of(self, layer: int) -> int:
        """Number of tokens in block `layer`, counted from 0: N, or fewer once patches are merged."""
        merged = 0 < self.merge_after <= layer
        return self.prefix + self.patches // 4 if merged else self.tokens

    @property
    def trained_tokens(self) -> int:
        """Number of tokens that go through the blocks in training."""
        return self.tokens - round(self.patch_dropout * self.patches)

    @property
    def position_rows(self) -> int:
        """Number of tokens before the patches that a learned table of positions has rows for."""
        return {"class": self.num_special_tokens, "patches": 0, "all": self.prefix}[self.position_on]

    @property
    def pooled_width(self) -> int:
        """Width of the vector that the pooling returns."""
        return 2 * self.width if self.pool == "both" else self.width

    @property
    def feature_width(self) -> int:
        """Width of the features, the input of the head."""
        return self.pre_logits or self.pooled_width

    def tokens_needed_after(self, layer: int) -> int | None:
        """Number of tokens that block `layer` has to return: None for all, or 1 for the class token only.

        In the last block of a class-token model, no other token reaches the logits, unless it predicts
        patches, or one of its parts needs all tokens.
        """
        if layer < self.layers - 1 or self.pool != "token" or self.predicts_patches:
            return None
        if self.is_paper:
            return 1
        from tinyvit.model.later import needs_all_tokens  # the paper's model does not need it

        return None if needs_all_tokens(self) else 1

    def drop_path_rate(self, layer: int) -> float:
        """Stochastic-depth rate of block `layer`, counted from 0."""
        return self.drop_path * layer / max(self.layers - 1, 1)

    def as_dict(self) -> dict[str, Any]:
        """The fields, for a JSON file; ViTConfig(**fields) restores the configuration.

        Fields of later models are left out where they have the paper's values.
        """
        later = self.later_parts
        left_out = LATER_PARTS.keys() - later.keys() | ({"parts"} if not self.parts else set())
        return {name: value for name, value in asdict(self).items() if name not in left_out}


# The fields of models that came after the paper, and how they are in the paper's model.
_OF_THE_PAPER = {"pool", "pre_logits", "dropout", "attention_dropout", "drop_path", "position", "position_at"}
_OF_THE_PAPER |= {"predicts", "resnet", "resnet_width", "resnet_groups", "resnet_form"}  # its variants
_OF_THE_PAPER |= PaperConfig.__dataclass_fields__.keys()
LATER_PARTS: dict[str, Any] = {
    field.name: field.default
    for field in fields(ViTConfig)
    if field.name not in _OF_THE_PAPER and field.name != "parts"
}
