"""Everything that determines a training run, in one flat record, which is saved in config.json."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from dataclasses import MISSING, asdict, dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any, get_args, get_type_hints

from tinyvit.data import DATASETS
from tinyvit.data.augmentation import MOST_MAGNITUDE, MOST_OPERATIONS, POLICIES, make_policy
from tinyvit.data.photo_fit import FITS
from tinyvit.distributed import by_first
from tinyvit.engine import PRECISIONS
from tinyvit.errors import UserError
from tinyvit.files.reading import read_json
from tinyvit.limits import LARGEST, LARGEST_SEED, MOST_LAYERS, MOST_PIXELS
from tinyvit.model.config import PLACES, POSITIONS, places_of
from tinyvit.model.initialise import INITS
from tinyvit.objectives.patch_targets import TARGETS
from tinyvit.ops.resize import METHODS
from tinyvit.optim import DECAYS, OPTIMIZERS

LOGS = ("tensorboard",)


@dataclass(frozen=True)
class Settings:
    """The complete settings of a run: on the same machine, the same settings give the same weights.

    Sizes are in images, times in epochs. labels is the table of the images in data_dir, if they have one (see
    data.label_table). steps, if given, is the total number of updates; epochs is then however many they take,
    and the last one may be shorter. warmup_steps, if given, replaces warmup_epochs. The model is evaluated
    after every evaluate_every-th epoch, and after the last. If patience is given, the run ends early when so
    many evaluations in a row have not been better than the best. only names the classes to keep, separated by
    commas, if not all are used. validation is how many training images are held out for choosing the best
    epoch or, below 1, which share of each class; 0 is to use the test set for that; fraction is the share of
    the remaining ones to train on. crop_padding is how far, in pixels, a random crop may move. crop_scale is
    the least share of an image that a random resized crop takes (see data.crops), which takes the place of
    that; 1 is none. colour_jitter is how far brightness, contrast and colour are changed, 0 to 1. augment is
    the policy that draws what else is done to an image; augment_ops and augment_magnitude are the number of
    operations, 1 to 16, and their strength, 0 to 30, of randaugment (see data.augmentation). mixup and cutmix
    are the alpha of each method (see data.mixing), 0 without it; erase is the probability that a rectangle of
    an image is erased; repeats is how often each image comes in a batch. With balanced, each class comes as
    often as the others. patch_dropout is the share of each image's patches that are dropped in most steps
    (see training.stages). accumulate is the number of parts that a batch is split into, computed one after
    another to save memory. ema is the decay of a running average of the weights, which is evaluated and kept
    as the model; 0 is none. layers, width, mlp_width and heads replace those of the model's name. position
    and position_at are the kind and the place of the position embedding (see ViTConfig); if the place is
    None, it becomes the usual one. init is how the parameters of a new model are drawn (see
    model.initialise), and whiten whether its patch embedding starts from the patches of the training images
    (see model.whitening). fit is how photos are fitted to the image size; None crops them.

    For fine-tuning, weights is the run folder, file or known name to start from, and model is its name. heads
    is then the number of heads, if the file does not state it. resolution is the side of the model's images
    in pixels, if it differs from that of the weights, and position_resize is how the position embedding is
    then resized.

    freeze names the parts of the model that do not learn, and layer_decay is the factor between the learning
    rates of one block and the one above it (see optim.rates). lora is the rank of LoRA, or None without, and
    lora_alpha the scale of what it learns, times the rank (see optim.lora); None is the rank.

    For learning without labels, target is what is predicted of corrupted patches, and corrupt the share of
    patches that are corrupted (see objectives.patch_targets). target is None for learning from labels.

    recipe is the name of the recipe that was followed, if any; see recipes.named. log is where else the
    figures of each epoch are written: 'tensorboard', or None.

    ranks is how many processes share the images of each batch; threads is that of each.

    precision is that of activations and products on a GPU: see engine.make_engine.
    """

    dataset: str
    model: str
    layers: int | None = None
    width: int | None = None
    mlp_width: int | None = None
    heads: int | None = None
    data_dir: str | None = None
    labels: str | None = None
    image_size: int | None = None
    fit: str | None = None
    only: str | None = None
    validation: float = 0
    fraction: float = 1.0
    pool: str = "token"
    position: str = "1d"
    position_at: str | None = None
    init: str = "official"
    whiten: bool = False
    epochs: int = 10
    steps: int | None = None
    batch_size: int = 128
    accumulate: int = 1
    optimizer: str = "adamw"
    lr: float = 1e-3
    weight_decay: float = 0.05
    warmup_epochs: float = 1.0
    warmup_steps: int | None = None
    decay: str = "cosine"
    clip: float = 1.0
    ema: float = 0.0
    smoothing: float = 0.0
    dropout: float = 0.0
    drop_path: float = 0.0
    crop_padding: int = 0
    crop_scale: float = 1.0
    flip: bool = False
    colour_jitter: float = 0.0
    augment: str = "none"
    augment_ops: int = 2
    augment_magnitude: float = 10.0
    mixup: float = 0.0
    cutmix: float = 0.0
    erase: float = 0.0
    repeats: int = 1
    balanced: bool = False
    patch_dropout: float = 0.0
    evaluate_every: int = 1
    patience: int | None = None
    weights: str | None = None
    resolution: int | None = None
    position_resize: str | None = None
    freeze: str | None = None
    layer_decay: float = 1.0
    lora: int | None = None
    lora_alpha: float | None = None
    target: str | None = None
    corrupt: float = 0.5
    recipe: str | None = None
    log: str | None = None
    precision: str = "auto"
    seed: int = 0
    device: str = "auto"
    threads: int | None = None
    ranks: int = 1

    def __post_init__(self) -> None:
        """Fill in the usual place of the positions, if none is given."""
        if self.position_at is None:
            object.__setattr__(self, "position_at", next(iter(places_of(self.position)), None))

    def warmup(self, steps_per_epoch: int) -> int:
        """The number of updates during which the learning rate rises."""
        return round(self.warmup_epochs * steps_per_epoch) if self.warmup_steps is None else self.warmup_steps

    def augmentation(self) -> dict[str, Any]:
        """How the images of a batch are changed: the keyword arguments of data.plan_batch."""
        policy = make_policy(self.augment, self.augment_ops, self.augment_magnitude)
        mixes = {"mixup": self.mixup, "cutmix": self.cutmix, "erase": self.erase}
        crops = {"padding": self.crop_padding, "scale": self.crop_scale, "flip": self.flip}
        return crops | {"policy": policy, "jitter": self.colour_jitter} | mixes

    def as_dict(self) -> dict[str, Any]:
        """The settings, for a JSON file."""
        return asdict(self)

    @classmethod
    @by_first
    def load(cls, path: Path) -> Settings:
        """The settings in a run's config.json, or in any JSON file that contains an object of settings.

        Raises UserError for anything else.
        """
        wanted = "expected the config.json of a run, or a JSON object of settings"
        if Path(path).is_dir():
            raise UserError(f"{path} is a folder, {wanted}: give the file, {Path(path) / 'config.json'}.")
        try:
            values = read_json(Path(path))
        except FileNotFoundError:
            raise UserError(f"there is no file {path}, {wanted}.") from None
        except (OSError, ValueError) as error:
            raise UserError(f"{path} cannot be read as JSON ({error}), {wanted}.") from error
        if isinstance(values, dict) and "settings" in values:
            values = values["settings"]
        if not isinstance(values, dict) or not values.keys() & _types().keys():
            raise UserError(f"{path} does not contain the settings of a run, {wanted}.")
        return cls.from_dict(values, path)

    @classmethod
    def from_dict(cls, values: dict[str, Any], source: Path | str = "config.json") -> Settings:
        """Settings(**values), with the values checked; source is the file they come from.

        Raises UserError for an unknown or missing name, or for a value that the setting cannot have.
        """
        types = _types()
        values = {name: value for name, value in values.items() if name not in _GONE}
        remedy = "Use the version of tinyvit that wrote it, or correct the file."
        if unknown := sorted(values.keys() - types.keys()):
            raise UserError(
                f"{source} has settings that this version of tinyvit does not know: {', '.join(unknown)}. "
                f"{remedy}"
            )
        needed = {field.name for field in fields(cls) if field.default is MISSING}
        if missing := sorted(needed - values.keys()):
            raise UserError(f"{source} is missing the settings {', '.join(missing)}. {remedy}")
        for name, value in values.items():
            if expected := setting_error(name, value):
                raise UserError(
                    f"{source} has {value!r} for the setting {name}, expected {expected}. {remedy}"
                )
        return cls(**values)


@lru_cache(maxsize=1)
def _types() -> dict[str, Any]:
    """The type of each setting, by name."""
    return get_type_hints(Settings)


def setting_error(name: str, value: Any) -> str:
    """What a setting should be, in words, if it cannot have this value; empty if it can."""
    kind = _types()[name]
    kinds = get_args(kind) or (kind,)
    fits, expected = _RULES.get(name, (lambda value: True, _KINDS[kinds[0]]))
    return "" if _is_a(value, kinds) and (value is None or fits(value)) else expected


def _is_a(value: Any, kinds: tuple[type, ...]) -> bool:
    """Whether value is of one of these types; an integer is a float too, but a boolean is not a number."""
    if isinstance(value, bool):
        return bool in kinds
    return isinstance(value, (*kinds, int) if float in kinds else kinds)


_GONE = ("shard_optimizer",)  # settings of older versions that changed nothing in what a run computes
_KINDS = {str: "a string", bool: "true or false", int: "a whole number", float: "a number"}
_Rule = tuple[Callable[[Any], bool], str]


def _one_of(names: Collection[str]) -> _Rule:
    return lambda value: value in names, f"one of {', '.join(names)}"


_COUNT: _Rule = (lambda value: 1 <= value <= LARGEST, "a whole number, 1 or more, and below 2^31")
_NATURAL: _Rule = (lambda value: 0 <= value <= LARGEST, "a whole number, 0 or more, and below 2^31")
_PIXELS: _Rule = (lambda value: 1 <= value <= MOST_PIXELS, f"a whole number from 1 to {MOST_PIXELS:,}")
_AMOUNT: _Rule = (lambda value: 0 <= value <= sys.float_info.max, "a number, 0 or more")
_POSITIVE: _Rule = (lambda value: 0 < value <= sys.float_info.max, "a number above 0")
_SHARE: _Rule = (lambda value: 0 < value <= 1, "a number above 0 and at most 1")
_RATE: _Rule = (lambda value: 0 <= value < 1, "a number from 0 to below 1")
_COUNTS: tuple[str, ...] = ("width", "mlp_width", "heads", "epochs", "steps", "batch_size")
_COUNTS += ("accumulate", "evaluate_every", "threads", "repeats", "ranks", "lora", "patience")

# What a setting may be, beyond its type; the flags of the commands allow the same.
_RULES: dict[str, _Rule] = {
    **dict.fromkeys(_COUNTS, _COUNT),
    **dict.fromkeys(("crop_padding", "warmup_steps"), _NATURAL),
    "validation": (
        lambda value: 0 <= value < 1 or (1 <= value <= LARGEST and value == int(value)),
        "a whole number, 0 or more, and below 2^31, or a fraction below 1",
    ),
    **dict.fromkeys(("image_size", "resolution"), _PIXELS),
    "layers": (lambda value: 1 <= value <= MOST_LAYERS, f"a whole number from 1 to {MOST_LAYERS:,}"),
    "seed": (lambda value: 0 <= value <= LARGEST_SEED, "a whole number, 0 or more, and below 2^64"),
    **dict.fromkeys(("weight_decay", "clip", "mixup", "cutmix"), _AMOUNT),
    "warmup_epochs": (lambda value: 0 <= value <= LARGEST, "a number, 0 or more, and below 2^31"),
    **dict.fromkeys(("ema", "smoothing", "dropout", "drop_path", "corrupt", "patch_dropout"), _RATE),
    **dict.fromkeys(("erase", "colour_jitter"), (lambda value: 0 <= value <= 1, "a number from 0 to 1")),
    **dict.fromkeys(("fraction", "layer_decay", "crop_scale"), _SHARE),
    **dict.fromkeys(("lr", "lora_alpha"), _POSITIVE),
    "dataset": _one_of(DATASETS),
    "fit": _one_of(FITS),
    "augment": _one_of(POLICIES),
    "augment_ops": (
        lambda value: 1 <= value <= MOST_OPERATIONS,
        f"a whole number from 1 to {MOST_OPERATIONS}",
    ),
    "augment_magnitude": (
        lambda value: 0 <= value <= MOST_MAGNITUDE,
        f"a number from 0 to {MOST_MAGNITUDE:g}",
    ),
    "optimizer": _one_of(OPTIMIZERS),
    "decay": _one_of(DECAYS),
    "precision": _one_of(PRECISIONS),
    "device": _one_of(("auto", "cpu", "gpu")),
    "position": _one_of(POSITIONS),
    "position_at": _one_of(PLACES),
    "init": _one_of(INITS),
    "position_resize": _one_of(METHODS),
    "target": _one_of(TARGETS),
    "log": _one_of(LOGS),
}
