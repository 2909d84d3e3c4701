"""The studies: the question of each, the answer in the paper, and the variants that are trained."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tinyvit.data.cifar import SOURCES
from tinyvit.data.shapes import CLASSES as SHAPES
from tinyvit.training.recipes import RESNET

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
class Study:
    """A question, what the paper answers, and the runs that answer it at home.

    variants(size, dataset) is what is compared, usual(size) the settings of all variants. The picture has a
    row for each variant or, if x_name is given, lines over a logarithmic axis of that name, on which x_label
    writes a number; measured_x is the figure of studies.results that lies on this axis if the variants give
    no x of their own.
    """

    question: str
    paper: str
    variants: Callable[[str, str], tuple[Variant, ...]]
    usual: Callable[[str], Chosen] = field(default=lambda size: COMMON | USUAL[size])
    x_name: str = ""
    x_label: Callable[[float], str] = "{:g}".format
    measured_x: str = ""


def percent(share: float) -> str:
    """A share as a label: 10 %."""
    return f"{100 * share:g} %"


def short(number: float) -> str:
    """A large number in three digits: 940 k, 3.8 M, 12 G."""
    for unit, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= unit:
            return f"{number / unit:.3g} {name}"
    return f"{number:g}"


_FRACTIONS = (0.01, 0.1, 1.0)  # of the training images


def _positions(size: str, dataset: str) -> tuple[Variant, ...]:
    tried = (
        # name, position, position_at, 5-shot accuracy on ImageNet in Table 8
        ("none", "none", None, "61.4%"),
        ("1d", "1d", "stem", "64.2%"),
        ("1d-blocks", "1d", "blocks", "64.0%"),
        ("1d-shared", "1d", "shared", "64.3%"),
        ("2d", "2d", "stem", "64.0%"),
        ("relative", "relative", "blocks", "64.0%"),
        ("sincos", "sincos", "stem", ""),
    )
    return tuple(
        Variant(name, {"position": position, "position_at": place}, paper=paper)
        for name, position, place, paper in tried
    )


def _pooling(size: str, dataset: str) -> tuple[Variant, ...]:
    rates = [USUAL[size]["lr"] * times for times in (0.25, 0.5, 1, 2)]
    return tuple(
        Variant(f"{pool}-lr-{rate:g}", {"pool": pool, "lr": rate}, (pool,), rate)
        for pool in ("token", "mean")
        for rate in rates
    )


def _data_usual(size: str) -> Chosen:
    """As many updates at every fraction: fewer images are seen more often, not for a shorter time."""
    return COMMON | USUAL[size] | ({"steps": 500, "warmup_steps": 50} if size == "small" else {})


def _data(size: str, dataset: str) -> tuple[Variant, ...]:
    """Models of about as many multiply-adds as the ViT of that size."""
    vit = "micro" if size == "large" else "nano"
    plain: Chosen = {}
    models = (
        ("ViT", f"{vit}/4", plain),
        ("hybrid", f"R5+{vit}/4", plain),
        ("ResNet", f"resnet-{vit}", RESNET),
    )
    return tuple(
        Variant(
            f"{name.lower()}-{100 * fraction:g}pct",
            {"model": model, "pool": "mean", "fraction": fraction} | more,
            (name,),
            fraction,
        )
        for fraction in _FRACTIONS
        for name, model, more in models
    )


# The model whose dimensions are halved and doubled: its size, width, MLP width, heads and layers.
_BASE = {
    "small": ("nano", 64, 128, 4, 4),
    "medium": ("nano", 64, 128, 4, 4),
    "large": ("mini", 192, 384, 6, 6),
}


def _scaling_usual(size: str) -> Chosen:
    name, width, mlp_width, heads, layers = _BASE[size]
    shape = {"width": width, "mlp_width": mlp_width, "heads": heads, "layers": layers}
    gentle = {"lr": USUAL[size]["lr"] / 2}  # the usual rate suits the base, but not models twice as wide
    return COMMON | USUAL[size] | shape | gentle | {"model": f"{name}/8"}


def _scaling(size: str, dataset: str) -> tuple[Variant, ...]:
    name, width, mlp_width, _, layers = _BASE[size]
    variants = [Variant("base", {}, ("depth", "width", "MLP width", "patch size", "all"))]
    for word, times in (("half", 0.5), ("double", 2)):
        depth, wide, hidden = int(layers * times), int(width * times), int(mlp_width * times)
        patch = round(8 / times)
        variants += [
            Variant(f"depth-{depth}", {"layers": depth}, ("depth",)),
            Variant(f"width-{wide}", {"width": wide}, ("width",)),
            Variant(f"mlp-{hidden}", {"mlp_width": hidden}, ("MLP width",)),
            Variant(f"patch-{patch}", {"model": f"{name}/{patch}"}, ("patch size",)),
            Variant(f"all-{word}", {"layers": depth, "width": wide, "mlp_width": hidden}, ("all",)),
        ]
    return tuple(variants)


def _transfer(size: str, dataset: str) -> tuple[Variant, ...]:
    """Half of the classes are for pre-training, the others for fine-tuning with few labels.

    So the two tasks share no class, but the same kind of pictures: what is carried over is what the model has
    learned to see.
    """
    names, half = CLASSES[dataset], len(CLASSES[dataset]) // 2
    known, new = ",".join(names[:half]), ",".join(names[half:])
    steps = USUAL[size]["steps"] // 4
    tuning = {"only": new, "fraction": 0.02, "steps": steps, "warmup_steps": steps // 10}
    tuning |= {"lr": USUAL[size]["lr"] / 2}
    variants = [Variant("scratch", tuning, ("from scratch",))]
    for fraction in _FRACTIONS:
        share = f"{100 * fraction:g}pct"
        first = First(f"first-{share}", {"only": known, "fraction": fraction})
        variants.append(Variant(f"after-{share}", tuning, ("fine-tuned",), fraction, first))
    return tuple(variants)


def _unlabelled(size: str, dataset: str) -> tuple[Variant, ...]:
    """The first run sees all training images and none of their labels; half as many steps then see labels."""
    first = First("masked-patches", {"target": "mean-colour"})
    steps = USUAL[size]["steps"] // 2
    tuning = {"steps": steps, "warmup_steps": steps // 10}
    variants = []
    for fraction in _FRACTIONS:
        share, chosen = f"{100 * fraction:g}pct", tuning | {"fraction": fraction}
        variants.append(Variant(f"scratch-{share}", chosen, ("from scratch",), fraction))
        variants.append(Variant(f"after-{share}", chosen, ("after masked patches",), fraction, first))
    return tuple(variants)


STUDIES: dict[str, Study] = {
    "positions": Study(
        "Which position embedding, and where should it be added?",
        "Table 8: any is far better than none, and which one hardly matters.",
        _positions,
    ),
    "pooling": Study(
        "Class token or mean of the patches, and with which learning rate?",
        "Figure 9: both work equally well, but need different learning rates.",
        _pooling,
        x_name="learning rate",
    ),
    "data": Study(
        "How do ViT, hybrid and ResNet compare as training images grow in number?",
        "Figures 3 to 5: with few images ResNets are ahead, with many ViTs; hybrids lead at small compute.",
        _data,
        _data_usual,
        x_name="share of the training images",
        x_label=percent,
    ),
    "scaling": Study(
        "Which is worth its compute: more depth, width, MLP width, or smaller patches?",
        "Figure 8: depth gains most, width least; smaller patches help without more parameters.",
        _scaling,
        _scaling_usual,
        x_name="multiply-adds an image",
        x_label=short,
        measured_x="multiply_adds",
    ),
    "transfer": Study(
        "How much does pre-training on more images help with other classes?",
        "Figures 3 and 4: the more images a ViT is pre-trained on, the better it transfers.",
        _transfer,
        x_name="share of the pre-training images",
        x_label=percent,
    ),
    "unlabelled": Study(
        "Does predicting masked patches without labels help, when few images are labelled?",
        "Section 4.6: it gains 2% over training from scratch, 4% less than pre-training with labels.",
        _unlabelled,
        x_name="share of the training images with labels",
        x_label=percent,
    ),
}
