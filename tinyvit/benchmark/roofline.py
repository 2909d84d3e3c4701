"""The least time that a step can take on a GPU, kernel by kernel, from the card's data sheet: its roofline.

    time >= max(bytes / bandwidth, multiply-adds / rate)        Williams, Waterman and Patterson 2009

Launching, waves of blocks that leave multiprocessors idle, and whatever a kernel does badly come on top. What
the next kernel still finds in the L2 cache is not counted, so that a small batch may seem faster than this.

Rates are those of dense matrices with sums in float32; data sheets often state twice as much, for sparse
ones. Sources: NVIDIA's data sheets of H200 and H100 (SXM), A100 80 GB (SXM4), L4 and T4; its whitepapers of
Ada (RTX 4090) and Ampere GA102 (RTX 3090).
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from tinyvit.engine.cuda.launch import Product, Step
from tinyvit.engine.cuda.plan import Options, Plan, Update, plan_inference, plan_step
from tinyvit.errors import UserError
from tinyvit.model import ViTConfig

_IMAGES = 50_000  # of the training set that a batch is taken from, as in CIFAR-10


@dataclass(frozen=True)
class Card:
    """A card: gigabytes per second of its memory, and teraflops of products by precision; 0: it has none."""

    name: str
    gigabytes_per_second: float
    fp32: float
    tf32: float
    bf16: float


CARDS = (
    Card("H200", 4800, 66.9, 494.7, 989.4),
    Card("H100", 3350, 66.9, 494.7, 989.4),
    Card("A100", 2039, 19.5, 156, 312),
    Card("RTX 4090", 1008, 82.6, 82.6, 165.2),
    Card("RTX 3090", 936, 35.6, 35.6, 71),
    Card("L4", 300, 30.3, 60, 121),
    Card("T4", 320, 8.1, 0, 0),
)
_OTHERS = {"pcie", "nvl", "40gb", "ti", "d", "laptop", "mig"}  # words by which a driver tells a slower one


def card_named(name: str) -> Card:
    """The card of this name; capitals, spaces and hyphens do not matter. Raises UserError for others."""
    plain = lambda text: text.lower().replace(" ", "").replace("-", "")
    if found := next((card for card in CARDS if plain(card.name) == plain(name)), None):
        return found
    names = ", ".join(card.name for card in CARDS)
    raise UserError(f"there is no data sheet of a card {name!r}: expected one of {names}.")


def card_in(device: str) -> Card | None:
    """The card whose name is part of what a driver calls it, such as NVIDIA H200; None if it is unknown."""
    words = device.lower().replace("-", " ").split()
    if not _OTHERS.isdisjoint(words):
        return None
    return next((card for card in CARDS if f" {card.name.lower()} " in f" {' '.join(words)} "), None)


def plan_of(config: ViTConfig, batch: int, precision: str, mode: str) -> Plan:
    """The plan of a training step with AdamW and clipping on a data set, or that of inference.

    Raises UserError if the kernels cannot have so many images at a time.
    """
    options = Options(precision)
    if mode == "infer":
        return plan_inference(config, batch, options)
    dataset = (_IMAGES, *config.image_size, config.channels)
    update = Update("adamw", weight_decay=0.05, clip=1.0)
    return plan_step(config, batch, replace(options, dataset=dataset, update=update))


def least_seconds(steps: Iterable[Step], card: Card, precision: str) -> float:
    """The roofline of some kernels and products. Raises UserError if the card has no such precision."""
    if not (products := getattr(card, precision)):
        raise UserError(f"the card {card.name} cannot multiply in {precision}: choose another --precision.")
    kernels = card.fp32 if precision == "tf32" else products  # kernels of ours multiply float32 exactly
    return sum(
        max(
            step.bytes_moved / (1e9 * card.gigabytes_per_second),
            2 * step.multiply_adds / (1e12 * (products if isinstance(step, Product) else kernels)),
        )
        for step in steps
    )


def by_kind(plan: Plan) -> dict[str, list[Step]]:
    """The kernels of a plan by their names, and its products by which of a linear layer's three they are."""
    kinds: dict[str, list[Step]] = {}
    for step in plan.steps:
        kinds.setdefault(kind_of(step), []).append(step)
    return kinds


def kind_of(step: Step) -> str:
    """The kernel's name, or which of the three products of a linear layer it is, or one of Muon's."""
    if not isinstance(step, Product):
        return step.function.partition("<")[0]
    if len(step.c.shape) > 2:
        return "product: Newton-Schulz"
    if step.transpose_a:
        return "product: gradient of W"
    return "product: gradient of x" if step.transpose_b else "product: x W"
