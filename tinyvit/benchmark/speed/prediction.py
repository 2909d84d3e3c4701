"""The predicted speed of a model on a card: every kernel and product priced, and summed up.

The plan of the CUDA engine is priced as it is, and beside it the same step made of array operations, as plain
CuPy carries it out: what fusing gains is the difference.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace

from tinyvit.benchmark.speed.array_operations import reference_operations
from tinyvit.benchmark.speed.cards import Card
from tinyvit.benchmark.speed.price import HOST_LAUNCH, Price, Work, price, work_of
from tinyvit.engine.cuda.calls.attention import fits
from tinyvit.engine.cuda.launch import Product, Step
from tinyvit.engine.cuda.plan import Options, Plan, Update, plan_inference, plan_step
from tinyvit.engine.cuda.support import unsupported
from tinyvit.engine.cuda.workspace import plan_workspace
from tinyvit.errors import UserError
from tinyvit.model import ViTConfig

_IMAGES = 50_000  # of the training set that a batch is taken from, as in CIFAR-10

# Which part of the model a step serves, by its label: the first pattern that is found in it.
_PARTS = (
    (r"weights in bfloat16|gradients of vectors|norm of the gradient|clipping|^update", "update"),
    (r"blocks\.\d+\.(norm1|attn|qkv|attention|a|o|do|dqkv)\b", "attention"),
    (r"blocks\.\d+\.(norm2|mlp|h|g|m|dg|dh|gelu)\b", "MLP"),
    (r"augmentation|patch|tokens", "stem"),
    (r"cross-entropy|^loss", "loss"),
    (r"norm|logits|head|features|pool", "readout"),
)


@dataclass(frozen=True)
class Row:
    """One line of a table: the sums over `launches` kernels, with what bounds most of their time.

    roofline is how many seconds they would take by the data sheet alone.
    """

    name: str
    launches: int
    bytes_moved: int
    multiply_adds: int
    seconds: float
    bound: str
    roofline: float

    @property
    def as_dict(self) -> dict:
        """For JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Prediction:
    """What a step of `batch` images is predicted to cost.

    steps has one row for each kernel and product of the plan, kinds and parts their sums. unfused is
    the sum over the reference engine's array operations in float32, whose seconds are those of the card or of
    the host, whichever needs longer.
    """

    card: Card
    batch: int
    steps: list[Row]
    kinds: list[Row]
    parts: list[Row]
    total: Row
    workspace: int
    unfused: Row

    @property
    def images_per_second(self) -> float:
        """The speed of the CUDA engine."""
        return self.batch / self.total.seconds


def plan_of(config: ViTConfig, batch: int, precision: str, mode: str) -> Plan:
    """The plan of a training step with AdamW and clipping on a data set, or that of inference.

    Raises UserError if the kernels cannot have so many images at a time.
    """
    dataset = (_IMAGES, *config.image_size, config.channels)
    update = Update("adamw", weight_decay=0.05, clip=1.0)
    if mode == "infer":
        return plan_inference(config, batch, Options(precision, trains=False))
    return plan_step(config, batch, Options(precision, dataset=dataset, update=update))


def predict(config: ViTConfig, batch: int, precision: str, mode: str, card: Card) -> Prediction:
    """The prediction for a model. Raises UserError if the CUDA engine, or the card, cannot do it."""
    card.rate(precision)
    _check(config, precision, card)
    plan = plan_of(config, batch, precision, mode)
    priced = [(step.label, step, work_of(step)) for step in plan.steps]
    prices = [price(work, card, precision) for *_, work in priced]
    found = list(zip(priced, prices, strict=True))

    def by(name: Callable[[str, Step], str]) -> list[Row]:
        groups: dict[str, list[tuple[Work, Price]]] = {}
        for (label, step, work), cost in found:
            groups.setdefault(name(label, step), []).append((work, cost))
        return sorted((_row(each, group) for each, group in groups.items()), key=lambda row: -row.seconds)

    works = [work for *_, work in priced]
    return Prediction(
        card,
        batch,
        [_row(label, [(work, cost)]) for (label, _, work), cost in found],
        by(lambda _, step: kind_of(step)),
        by(lambda label, _: part_of(label)),
        _row("together", zip(works, prices, strict=True)),
        plan_workspace(plan).size,
        _unfused(config, batch, mode, card),
    )


def kind_of(step: Step) -> str:
    """The kernel's name, or which of the three products of a linear layer it is, or one of Muon's."""
    if not isinstance(step, Product):
        return step.function.partition("<")[0]
    if len(step.c.shape) > 2:
        return "product: Newton-Schulz"
    if step.transpose_a:
        return "product: gradient of W"
    return "product: gradient of x" if step.transpose_b else "product: x W"


def part_of(label: str) -> str:
    """The part of the model that a step with this label serves."""
    return next((part for pattern, part in _PARTS if re.search(pattern, label)), "other")


def _check(config: ViTConfig, precision: str, card: Card) -> None:
    if reason := unsupported(config):
        raise UserError(f"there is no prediction for this model, which runs on plain CuPy: {reason}.")
    dtype = "bfloat16" if precision == "bf16" else "float32"
    if not fits(config.tokens, config.width // config.heads, dtype, card.shared_bytes):
        raise UserError(
            f"there is no prediction for this model in {precision}, which runs on plain CuPy: attention "
            f"among {config.tokens:,} tokens does not fit into the shared memory of the card {card.name}."
        )


def _unfused(config: ViTConfig, batch: int, mode: str, card: Card) -> Row:
    works = [operation.work for operation in reference_operations(config, batch, mode)]
    row = _row("array operations", [(work, price(work, card, "fp32")) for work in works])
    host = HOST_LAUNCH * row.launches
    if host <= row.seconds:
        return row
    return replace(row, seconds=host, bound="host")


def _row(name: str, priced: Iterable[tuple[Work, Price]]) -> Row:
    """The sums over some launches."""
    pairs = list(priced)
    seconds: dict[str, float] = {}
    for _, cost in pairs:
        seconds[cost.bound] = seconds.get(cost.bound, 0.0) + cost.seconds
    return Row(
        name,
        len(pairs),
        sum(work.bytes_moved for work, _ in pairs),
        sum(work.multiply_adds for work, _ in pairs),
        sum(seconds.values()),
        max(seconds, key=seconds.get),
        sum(cost.roofline for _, cost in pairs),
    )
