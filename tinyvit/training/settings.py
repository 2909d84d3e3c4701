"""The table of settings: everything that determines a training run, one row a setting.

Whatever else concerns settings follows from it: the flags of the commands and their help, the checks and
their messages, config.json, what a resumed run may change, and the keywords of Model.fit.
A new setting is a row of Settings (and of FitSettings, if it is about training), and takes effect where
code reads it. ViTClassifier names the settings that it has.
"""

from __future__ import annotations

from dataclasses import MISSING, asdict, dataclass, field, fields
from enum import Enum
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple, TypedDict, get_args, get_type_hints

import numpy as np

from tinyvit.data import DATASETS
from tinyvit.data.augment import MOST_MAGNITUDE, MOST_OPERATIONS, POLICIES, make_policy
from tinyvit.data.photos import FITS
from tinyvit.data.plan import Change
from tinyvit.engine import PRECISIONS
from tinyvit.model import RESNETS, SIZES, usual_name
from tinyvit.model.config import PLACES, POSITIONS, places_of
from tinyvit.model.initialise import INITS
from tinyvit.objectives.masked_patches import TARGETS
from tinyvit.ops.resize import METHODS
from tinyvit.optim import DECAYS, OPTIMIZERS, usual_learning_rate
from tinyvit.support import limits
from tinyvit.support.distributed import on_rank_zero
from tinyvit.support.errors import UserError, did_you_mean
from tinyvit.support.files import read_json

LENGTHS, WARMUPS = ("epochs", "steps"), ("warmup_epochs", "warmup_steps")  # give only one of each pair
_SIZES = ", ".join(usual_name(f"{size}/1").partition("/")[0] for size in SIZES)
_RESNETS = ", ".join(f"resnet-{size}" for size in RESNETS)


class Group(Enum):
    """The headings of settings in --help. Model.fit takes those of AUGMENTATION and TRAINING."""

    DATA = "data"
    AUGMENTATION = "augmentation"
    MODEL = "model"
    WEIGHTS = "weights"
    TASK = "task"
    TRAINING = "training"
    RUN = "run"


class Resume(Enum):
    """The effect of another value of a setting on a run that is resumed."""

    REFUSE = "refuse"  # the data depend on it, or the shape of what is saved
    CHANGE = "change"  # uses the new value from then on, and records that
    EXTEND = "extend"  # takes it if the run becomes longer, and records that
    COMPUTE = "compute"  # uses it for this session, and records that: the last digits depend on it
    FREE = "free"  # uses it for this session: no number depends on it


REFUSE, CHANGE, EXTEND, COMPUTE, FREE = Resume


class Row(NamedTuple):
    """A setting's row in the table; kinds are the types that its values may have.

    The help of a setting whose default value needs explaining ends with the explanation, as (default: ...).
    """

    name: str
    kinds: tuple[type, ...]
    default: Any
    group: Group
    rule: limits.Rule
    help: str
    resume: Resume
    metavar: str | None

    def error(self, value: Any) -> str:
        """The values that the setting can have, in words, if this is not one of them; otherwise empty."""
        plain = value.item() if isinstance(value, np.generic) else value
        if isinstance(plain, bool):  # which Python counts among the whole numbers
            is_a = bool in self.kinds
        else:
            is_a = isinstance(plain, (*self.kinds, int) if float in self.kinds else self.kinds)
        return "" if is_a and (plain is None or self.rule.fits(plain)) else self.rule.words


def _setting(
    group: Group,
    default: Any,
    rule: limits.Rule,
    help: str,
    resume: Resume = REFUSE,
    metavar: str | None = None,
) -> Any:
    """A row of the table, without its name and type: see Row."""
    metavar = metavar or rule.metavar
    row = {"group": group, "rule": rule, "help": help, "resume": resume, "metavar": metavar}
    return field(default=default, metadata=row)


_data, _augmentation = partial(_setting, Group.DATA), partial(_setting, Group.AUGMENTATION, resume=CHANGE)
_model, _weights, _task = (partial(_setting, group) for group in (Group.MODEL, Group.WEIGHTS, Group.TASK))
_training, _run = partial(_setting, Group.TRAINING), partial(_setting, Group.RUN)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The complete settings of a run: on the same machine, the same settings give the same weights."""

    # fmt: off
    # one row a setting, its help below
    dataset: str = _data(MISSING, limits.one_of(DATASETS), "data set to use (default: shapes)")
    data_dir: str | None = _data(None, limits.PATH, metavar="DIR", resume=FREE, help=
        "folder of the data, required by --dataset folder and parquet, or for arrays the .npz file; CIFAR "
        "and MNIST are downloaded into it (default: data/)")
    labels: str | None = _data(None, limits.PATH, metavar="TABLE", resume=FREE, help=
        "table, as .csv or .tsv, of the files in --data-dir and their classes, for --dataset folder "
        "(default: each folder in it is a class)")
    image_size: int | None = _data(None, limits.PIXELS, help=
        "scale the images of a folder, of parquet files or of arrays to N x N pixels (default: 64; for "
        "arrays, the size that they have)")
    fit: str | None = _data(None, limits.one_of(FITS), help=
        "how a photo that does not have the model's shape is fitted: crop shows the model its centre, pad "
        "shows all of it on grey, squash shows all of it distorted (default: crop)")
    only: str | None = _data(None, limits.TEXT, metavar="CLASSES", help=
        "use only the images of these classes, their names separated by commas (default: all classes)")
    fraction: float = _data(1.0, limits.SHARE, help=
        "train on this fraction of the training images, the same fraction of every class, chosen by the "
        "seed")
    validation: int | float = _data(0, limits.COUNT_OR_SHARE, help=
        "hold out N training images, or a share below 1 of each class, and use them instead of the test "
        "images to choose the best epoch")
    crop_padding: int = _augmentation(0, limits.NATURAL, "shift each image at random by up to N pixels")
    crop_scale: float = _augmentation(1.0, limits.SHARE, help=
        "take a random box of each image, from R to all of its area, and resize it to the size of the "
        "model, instead of --crop-padding; 0.08 is usual from scratch with very many photos, and 1 means "
        "never")
    flip: bool = _augmentation(False, limits.SWITCH, "mirror each image at random, with probability 1/2")
    colour_jitter: float = _augmentation(0.0, limits.up_to(1), help=
        "change brightness, contrast and colour of each image in a random order, each by a factor from 1 - "
        "X to 1 + X; 0.4 is usual")
    augment: str = _augmentation("none", limits.one_of(POLICIES), help=
        "change each image at random in other ways too: with operations that are all as likely and as "
        "strong (randaugment), or with pairs of them that were found for CIFAR-10 (autoaugment)")
    augment_ops: int = _augmentation(2, limits.counted_to(MOST_OPERATIONS), help=
        f"number of operations of randaugment for each image, from 1 to {MOST_OPERATIONS}")
    augment_magnitude: float = _augmentation(10.0, limits.up_to(MOST_MAGNITUDE), help=
        f"strength of randaugment, from 0 to {MOST_MAGNITUDE:g}")
    mixup: float = _augmentation(0.0, limits.AMOUNT, metavar="ALPHA", help=
        "blend each image and its label with another one of the batch, in a proportion from Beta(ALPHA, "
        "ALPHA); 0 means never. Mixed labels cannot be predicted with certainty: the training loss stays "
        "above the test loss")
    cutmix: float = _augmentation(0.0, limits.AMOUNT, metavar="ALPHA", help=
        "paste a rectangle of another image into each image, whose share of the image is drawn from "
        "Beta(ALPHA, ALPHA), and mix their labels in the same proportion; 0 means never. With --mixup too, "
        "each image has one of the two")
    erase: float = _augmentation(0.0, limits.up_to(1), metavar="P", help=
        "replace a rectangle of an image with noise, with this probability")
    repeats: int = _augmentation(1, limits.COUNT, resume=REFUSE, help=
        "put each image into a batch N times, augmented anew each time; an epoch then has fewer different "
        "images")
    patch_dropout: float = _augmentation(0.0, limits.RATE, resume=REFUSE, help=
        "drop this share of each image's patches, chosen at random, in all but the last fifth of the "
        "steps; 0.6 more than halves the time of a step on a CPU")
    model: str = _model(MISSING, limits.TEXT, metavar="SIZE/PATCH", help=
        f"model to train, such as micro/4: SIZE is one of {_SIZES}, and PATCH is the side of a patch in "
        f"pixels; or a hybrid such as R5+nano/4; or a ResNet, one of {_RESNETS} (default: that of the data "
        "set's recipe)")
    pool: str = _model("token", limits.one_of(("token", "mean")), help=
        "classify by the class token or by the mean of the patches; a ResNet has only the mean")
    position: str = _model("1d", limits.one_of(POSITIONS), help=
        "position embedding: a learned vector for each patch, for each row and column, fixed sines and "
        "cosines, a learned vector for each offset between patches, a learned score for each offset in the "
        "plane (bias), or none, as in a ResNet")
    position_at: str | None = _model(None, limits.one_of(PLACES), help=
        "where positions are added: once, in every block with a table for each, or in every block with one "
        "shared table (default: stem; for relative and bias, blocks)")
    init: str = _model("official", limits.one_of(INITS), help=
        "initial values: those of the official code; or mimetic, so that attention favours nearby and "
        "similar patches from the start")
    whiten: bool = _model(False, limits.SWITCH, help=
        "start from a patch embedding that sees fine detail as well as brightness, computed from the "
        "training images")
    layers: int | None = _model(None, limits.LAYERS, "number of blocks (default: the model's own number)")
    width: int | None = _model(None, limits.COUNT, "width of the tokens (default: the model's own)")
    mlp_width: int | None = _model(None, limits.COUNT, help=
        "width of the hidden layer of each MLP (default: the model's own)")
    heads: int | None = _model(None, limits.COUNT, help=
        "number of attention heads (default: the model's own; a .safetensors file may not determine it)")
    merge_after: int | None = _model(None, limits.NATURAL, help=
        "after N blocks, merge each square of 2 x 2 patches into one token, their mean; 0 for never "
        "(default: as the model does)")
    weights: str | None = _weights(None, limits.PATH, "what to start from", metavar="WEIGHTS")
    resolution: int | None = _weights(None, limits.PIXELS, help=
        "adapt the model to images of N x N pixels (default: the size it was trained on)")
    position_resize: str | None = _weights(None, limits.one_of(METHODS), help=
        "how position embeddings are resized for --resolution: corners as in the official code, bicubic as "
        "in Hugging Face, antialias as in timm, bilinear as in timm for .npz files (default: as in the "
        "library that the weights come from)")
    target: str | None = _task(None, limits.one_of(TARGETS), help=
        "what to predict of a patch: its mean colour, one of 512; the patch downsized to 4 x 4 pixels of "
        "those colours; or all its pixels")
    corrupt: float = _task(0.5, limits.RATE, "share of the patches to corrupt and predict")
    recipe: str | None = _training(None, limits.TEXT, metavar="NAME", help=
        "follow a named recipe, which tinyvit.recipe lists; other flags take precedence (default: the one "
        "for the data set and the device)")
    epochs: int = _training(10, limits.COUNT, "number of passes over the training images", resume=EXTEND)
    steps: int | None = _training(None, limits.COUNT, resume=EXTEND, help=
        "number of updates to make, instead of --epochs (default: as many as the epochs take)")
    batch_size: int = _training(128, limits.COUNT, "number of images in each update")
    accumulate: int = _training(1, limits.COUNT, help=
        "compute each batch in N parts, one after another, to save memory")
    optimizer: str = _training("adamw", limits.one_of(OPTIMIZERS), help=
        "optimiser to use; muon is for the matrices inside the blocks, with adamw for all else")
    lr: float = _training(1e-3, limits.POSITIVE, resume=CHANGE, help=
        "highest learning rate, reached at the end of warm-up (default: 0.001; with sgd, "
        f"{usual_learning_rate('sgd', 0.001):g})")
    decay: str = _training("cosine", limits.one_of(DECAYS), resume=CHANGE, help=
        "how the learning rate falls after warm-up")
    warmup_epochs: float = _training(1.0, limits.DURATION, help=
        "number of epochs during which the learning rate rises linearly (default: 1, or a quarter of a "
        "short run)")
    warmup_steps: int | None = _training(None, limits.NATURAL, help=
        "the same as a number of updates (default: as many as --warmup-epochs takes)")
    weight_decay: float = _training(0.05, limits.AMOUNT, resume=CHANGE, help=
        "strength of weight decay, which acts only on matrices, and not with sgd (default: 0.05; with "
        "adam, 0)")
    freeze: str | None = _training(None, limits.TEXT, metavar="PARTS", help=
        "parts to keep fixed, separated by commas: stem, blocks.0-9, blocks.3, backbone (all but the "
        "head), matrices (all but norms, biases and the head), or the beginning of a parameter's name "
        "(default: nothing)")
    layer_decay: float = _training(1.0, limits.SHARE, help=
        "multiply the learning rate by R from each block to the one below it; 0.65 to 0.9 is usual in "
        "fine-tuning")
    lora: int | None = _training(None, limits.COUNT, metavar="RANK", help=
        "learn changes of this rank for the matrices of attention, and the head, and nothing else unless "
        "--freeze says so (default: all of the model learns)")
    lora_alpha: float | None = _training(None, limits.POSITIVE, help=
        "multiply these changes by X / RANK (default: RANK)")
    clip: float = _training(1.0, limits.AMOUNT, resume=CHANGE, help=
        "clip gradients to this norm; 0 means no limit")
    ema: float = _training(0.0, limits.RATE, resume=CHANGE, help=
        "evaluate and keep a running average of the weights, of which each update replaces a share of 1 - "
        "R; 0.999 is usual, and 0 means none")
    smoothing: float = _training(0.0, limits.RATE, "amount of label smoothing", resume=CHANGE)
    balanced: bool = _training(False, limits.SWITCH, help=
        "show images of each class as often as those of the others, however many there are, instead of "
        "each image once an epoch")
    dropout: float = _training(0.0, limits.RATE, "dropout rate")
    drop_path: float = _training(0.0, limits.RATE, help=
        "rate at which the last block is skipped (stochastic depth), and earlier ones less often")
    evaluate_every: int = _training(1, limits.COUNT, resume=CHANGE, help=
        "evaluate the model after every N-th epoch, and after the last")
    patience: int | None = _training(None, limits.COUNT, resume=CHANGE, help=
        "end the run early when N evaluations in a row have not been better than the best (default: never)")
    precision: str = _training("auto", limits.one_of(PRECISIONS), resume=COMPUTE, help=
        "on a GPU, compute in float32 (fp32), with products in TF32 (tf32), or with activations and "
        "products in bfloat16 (bf16); auto is bf16 where the card has it. Parameters and sums are float32 "
        "always")
    seed: int = _training(0, limits.SEED, "seed for everything random")
    device: str = _run("auto", limits.one_of(("auto", "cpu", "gpu")), resume=COMPUTE, help=
        "device to compute on; auto uses a GPU if there is one")
    threads: int | None = _run(None, limits.THREADS, resume=COMPUTE, help=
        "number of CPU threads to use (default: one for each available core, which under mpiexec the "
        "processes of a machine share, or OMP_NUM_THREADS if that is less)")
    ranks: int = _run(1, limits.COUNT, "number of processes that share the images of each batch")
    log: str | None = _run(None, limits.one_of(("tensorboard",)), resume=FREE, help=
        "also write the figures of each epoch to RUN/tensorboard, through the package tensorboardX "
        "(default: only to metrics.jsonl and metrics.csv)")
    # fmt: on

    def __post_init__(self) -> None:
        """Fill in the usual place of the positions, if none is given."""
        if self.position_at is None:
            object.__setattr__(self, "position_at", next(iter(places_of(self.position)), None))

    def warmup(self, steps_per_epoch: int) -> int:
        """The number of updates during which the learning rate rises."""
        return round(self.warmup_epochs * steps_per_epoch) if self.warmup_steps is None else self.warmup_steps

    def augmentation(self) -> dict[str, Any]:
        """The augmentation of the images of a batch: the keyword arguments of data.plan_batch."""
        policy = make_policy(self.augment, self.augment_ops, self.augment_magnitude)
        mixes = {"mixup": self.mixup, "cutmix": self.cutmix, "erase": self.erase}
        crops = {"padding": self.crop_padding, "scale": self.crop_scale, "flip": self.flip}
        return crops | {"policy": policy, "jitter": self.colour_jitter} | mixes

    def as_dict(self) -> dict[str, Any]:
        """The settings, for a JSON file."""
        return asdict(self)

    @classmethod
    @on_rank_zero
    def load(cls, path: Path) -> Settings:
        """The settings in a run's config.json, or in any JSON file that contains an object of settings.

        Raises UserError for anything else.
        """
        return cls.from_dict(_read_settings(path)[0], path)

    @classmethod
    def from_dict(cls, values: dict[str, Any], source: Path | str = "config.json") -> Settings:
        """Settings(**values), with the values checked; source is the file they come from.

        Raises UserError for an unknown or missing name, or for a value that the setting cannot have.
        """
        values = _checked(values, source)
        needed = {name for name, row in table().items() if row.default is MISSING}
        if missing := sorted(needed - values.keys()):
            raise UserError(f"{source} is missing the settings {', '.join(missing)}. {_REMEDY}")
        return cls(**values)


_GONE = ("shard_optimizer",)  # settings of older versions that changed nothing in what a run computes
_REMEDY = "Use the version of tinyvit that wrote it, or correct the file."


@on_rank_zero
def few_settings(path: Path) -> dict[str, Any] | None:
    """The settings in a JSON object that has some of them, as flags would give them; None for those of a run.

    null stands for the usual value. Raises UserError as Settings.load does.
    """
    values, is_run = _read_settings(path)
    if is_run or table().keys() <= values.keys():
        return None
    few = {name: value for name, value in _checked(values, path).items() if value is not None}
    if without_flag := few.keys() & {"ranks", "weights"}:
        raise UserError(
            f"{path} has the setting {min(without_flag)}, which no flag gives: weights are the argument of "
            "tinyvit.finetune, and mpiexec starts the ranks. Take it out."
        )
    for one, other in (LENGTHS, WARMUPS):
        if {one, other} <= few.keys():
            raise UserError(f"{path} has both {one} and {other}: give one, as the other has no effect.")
    return few


def _read_settings(path: Path) -> tuple[dict[str, Any], bool]:
    """The object of settings in a file, not yet checked; and True if the file is the config.json of a run."""
    wanted = "expected the config.json of a run, or a JSON object of settings"
    if Path(path).is_dir():
        raise UserError(f"{path} is a folder, {wanted}: give the file, {Path(path) / 'config.json'}.")
    try:
        values = read_json(Path(path))
    except FileNotFoundError:
        raise UserError(f"there is no file {path}, {wanted}.") from None
    except (OSError, ValueError) as error:
        raise UserError(f"{path} cannot be read as JSON ({error}), {wanted}.") from error
    is_run = isinstance(values, dict) and "settings" in values
    values = values["settings"] if is_run else values
    if not isinstance(values, dict) or not values:
        raise UserError(f"{path} does not contain the settings of a run, {wanted}.")
    return values, is_run


def _checked(values: dict[str, Any], source: Path | str) -> dict[str, Any]:
    """The settings, without those that have gone; UserError for an unknown one, or a value it cannot have."""
    rows = table()
    values = {name: value for name, value in values.items() if name not in _GONE}
    if unknown := sorted(values.keys() - rows.keys()):
        named = ", ".join(name + did_you_mean(name, rows) for name in unknown)
        raise UserError(
            f"{source} has settings that this version of tinyvit does not know: {named}. {_REMEDY}"
        )
    for name, value in values.items():
        if expected := rows[name].error(value):
            raise UserError(f"{source} has {value!r} for the setting {name}, expected {expected}. {_REMEDY}")
    return values


class FitSettings(TypedDict, total=False):
    """The keywords of Model.fit that are settings, for editors and type checkers; None is the usual value."""

    crop_padding: int | None
    crop_scale: float | None
    flip: bool | None
    colour_jitter: float | None
    augment: str | Change | None
    augment_ops: int | None
    augment_magnitude: float | None
    mixup: float | None
    cutmix: float | None
    erase: float | None
    repeats: int | None
    patch_dropout: float | None
    recipe: str | None
    epochs: int | None
    steps: int | None
    batch_size: int | None
    accumulate: int | None
    optimizer: str | None
    lr: float | None
    decay: str | None
    warmup_epochs: float | None
    warmup_steps: int | None
    weight_decay: float | None
    freeze: str | None
    layer_decay: float | None
    lora: int | None
    lora_alpha: float | None
    clip: float | None
    ema: float | None
    smoothing: float | None
    balanced: bool | None
    dropout: float | None
    drop_path: float | None
    evaluate_every: int | None
    patience: int | None
    precision: str | None
    seed: int | None


@lru_cache(maxsize=1)
def table() -> dict[str, Row]:
    """The rows of all settings, by name."""
    types = get_type_hints(Settings)
    return {
        each.name: Row(
            each.name, get_args(types[each.name]) or (types[each.name],), each.default, **each.metadata
        )
        for each in fields(Settings)
    }


def in_groups(*groups: Group) -> list[str]:
    """The names of the settings of some groups, in the order of the table."""
    return [name for name, row in table().items() if row.group in groups]


def that_resume(*kinds: Resume) -> set[str]:
    """The names of the settings with which a resumed run does one of these things."""
    return {name for name, row in table().items() if row.resume in kinds}


def check_settings(**values: Any) -> None:
    """Raise UserError for a setting with a value that it cannot have."""
    for name, value in values.items():
        if expected := table()[name].error(value):
            raise UserError(f"{name} is {value!r}, expected {expected}.")
