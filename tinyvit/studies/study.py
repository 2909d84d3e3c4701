"""What a study consists of: a question, variants to train, and how the answer is laid out."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tinyvit.data.cifar import SOURCES
from tinyvit.data.shapes import CLASSES as SHAPES

SIZES = ("small", "medium", "large")
# The classes of the data sets that can be studied: those that need nothing but a name.
CLASSES = {"shapes": SHAPES} | {name: source.classes for name, source in SOURCES.items()}
IMAGE_SIDE = 32

Chosen = dict[str, Any]  # values of Settings, by name

# What the runs of all studies have in common. A run is evaluated only at its end: then no choice is made by
# the test images, and a small share of the training images does not mean hundreds of evaluations.
COMMON: Chosen = {
    "recipe": None,  # a better recipe for the data set must not change what a study compares
    "optimizer": "adamw",
    "weight_decay": 0.05,
    "decay": "cosine",
    "smoothing": 0.0,
    "drop_path": 0.0,
    "flip": True,
    "crop_padding": 2,
    "accumulate": 1,
    "evaluate_every": 1_000_000,
}
# The length of a run and its model at each size: minutes for a whole study on two slow cores, an hour or two,
# or a GPU.
USUAL: Mapping[str, Chosen] = {
    "small": {"model": "nano/8", "steps": 1_000, "batch_size": 50, "lr": 2e-3, "warmup_steps": 100},
    "medium": {"model": "nano/4", "steps": 4_000, "batch_size": 50, "lr": 2e-3, "warmup_steps": 400},
    "large": {"model": "mini/4", "steps": 39_000, "batch_size": 128, "lr": 1e-3, "warmup_steps": 2_000}
    | {"crop_padding": 4, "smoothing": 0.1, "drop_path": 0.1},
}


@dataclass(frozen=True)
class First:
    """A run that others start from, with or without labels."""

    name: str
    settings: Chosen


@dataclass(frozen=True)
class Variant:
    """One thing that is tried, once for each seed.

    name is that of its row and of its run folders; settings are those in which it differs from the study's
    others. It is a point of each of these lines of the picture, at x. Without x, it is a level to compare
    with. first, if any, is the run it starts from, and paper is what the paper reports for it.
    """

    name: str
    settings: Chosen
    lines: tuple[str, ...] = ()
    x: float | None = None
    first: First | None = None
    paper: str = ""


@dataclass(frozen=True)
class Comparison:
    """What something is worth beside others: a variant that has it, and one that differs in nothing else.

    name is what is compared, beside what else both have; added and without are the names of the variants.
    """

    name: str
    beside: str
    added: str
    without: str


@dataclass(frozen=True)
class Study:
    """A question, what the paper answers, and the runs that answer it at home.

    usual(size) are the settings of all variants, variants(size, dataset) what is compared. The picture has a
    row for each variant or, if x_name is given, lines over a logarithmic axis of that name; measured_x is
    the figure of studies.results that lies on this axis if the variants give no x of their own. If
    comparisons(size) names pairs of variants, it is their differences that are tabulated and drawn. With more
    rounds than one, the variants that do better have more time in the next: see studies.halving.
    """

    question: str
    paper: str
    variants: Callable[[str, str], tuple[Variant, ...]]
    usual: Callable[[str], Chosen] = field(default=lambda size: COMMON | USUAL[size])
    x_name: str = ""
    measured_x: str = ""
    rounds: int = 1
    percent: bool = False  # whether x is a share, to be written in percent
    comparisons: Callable[[str], tuple[Comparison, ...]] = field(default=lambda size: ())
