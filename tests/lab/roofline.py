"""The least time that a step can take on a GPU, kernel by kernel, from the card's data sheet: its roofline.

    python -m tests.lab.roofline --card H200 --model Ti/4 --batch-size 512

prints it, without a GPU, and nothing is measured.

    time >= max(bytes / bandwidth, multiply-adds / rate)        Williams, Waterman and Patterson 2009

Launching, waves of blocks that leave multiprocessors idle, and whatever a kernel does badly come on top. What
the next kernel still finds in the L2 cache is not counted, so that a small batch may seem faster than this.

Rates are those of dense matrices with sums in float32; data sheets often state twice as much, for sparse
ones. Sources: NVIDIA's data sheets of H200 and H100 (SXM), A100 80 GB (SXM4), L4 and T4; its whitepapers of
Ada (RTX 4090) and Ampere GA102 (RTX 3090).
"""

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tinyvit.bench.timing import Case
from tinyvit.engine.cuda.launch import Product, Step
from tinyvit.engine.cuda.plan import Options, Plan, Update, plan_inference, plan_step
from tinyvit.engine.cuda.plan.draft import PRECISIONS
from tinyvit.engine.cuda.support import unsupported
from tinyvit.support.errors import UserError
from tinyvit.support.shell.ending import ending

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


def plan_of(case: Case) -> Plan:
    """The plan of a training step with AdamW and clipping on a data set, or that of inference.

    Raises UserError if there are no kernels for the model, or none for so many images at a time.
    """
    options, config = Options(case.precision), case.config
    if reason := unsupported(config):
        raise UserError(f"the CUDA engine cannot do this: {reason}.")
    if case.mode == "infer":
        return plan_inference(config, case.batch, options)
    dataset = (_IMAGES, *config.image_size, config.channels)
    update = Update("adamw", weight_decay=0.05, clip=1.0)
    return plan_step(config, case.batch, replace(options, dataset=dataset, update=update))


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


def kernels(plan: Plan, precision: str, seconds: Sequence[float] | None, card: Card | None) -> list[dict]:
    """Each kind of kernel and product, the slowest first: launches, bytes, and the least seconds on the card.

    seconds, if given, are those that every step of the plan took.
    """
    rows = []
    for name in dict.fromkeys(map(kind_of, plan.steps)):
        chosen = [i for i, step in enumerate(plan.steps) if kind_of(step) == name]
        steps = [plan.steps[i] for i in chosen]
        row = {"name": name, "launches": len(steps), "bytes_moved": sum(step.bytes_moved for step in steps)}
        if card:
            row["least_seconds"] = least_seconds(steps, card, precision)
        if seconds is not None:
            row["seconds"] = sum(seconds[i] for i in chosen)
        rows.append(row)
    return sorted(rows, key=lambda row: -row.get("seconds", row.get("least_seconds", 0.0)))


def kind_of(step: Step) -> str:
    """The kernel's name, or which of the three products of a linear layer it is, or one of Muon's."""
    if not isinstance(step, Product):
        return step.function.partition("<")[0]
    if len(step.c.shape) > 2:
        return "product: Newton-Schulz"
    if step.transpose_a:
        return "product: gradient of W"
    return "product: gradient of x" if step.transpose_b else "product: x W"


def kernel_table(rows: Sequence[dict]) -> list[str]:
    """The lines of a table of what kernels() gives."""
    measured, bounded = "seconds" in rows[0], "least_seconds" in rows[0]
    heading = f"{'one by one, outside the graph' if measured else '':30}{'launches':>9}{'MB':>10}"
    lines = [heading + (f"{'µs':>9}" if measured else "") + (f"{'at least':>11}" if bounded else "")]
    for row in rows:
        line = f"{row['name']:30}{row['launches']:9,}{row['bytes_moved'] / 1e6:10,.1f}"
        line += f"{1e6 * row['seconds']:9,.1f}" if measured else ""
        lines.append(line + (f"{1e6 * row['least_seconds']:11,.1f}" if bounded else ""))
    return lines


def main(argv: Sequence[str] | None = None) -> None:
    """Print the prediction."""
    p = argparse.ArgumentParser(prog="tests.lab.roofline", description=__doc__.partition("\n")[0])
    p.add_argument("--card", required=True, metavar="CARD", help=", ".join(card.name for card in CARDS))
    p.add_argument("--model", default="Ti/4")
    p.add_argument("--image-size", type=int, default=32)
    p.add_argument("--batch-size", type=int, default=128)
    p.add_argument("--mode", choices=("train", "infer"), default="train")
    p.add_argument("--precision", choices=PRECISIONS, default="bf16")
    args = p.parse_args(argv)
    case = Case(args.model, args.image_size, args.batch_size, args.mode, 1, args.precision, "gpu")
    rows = kernels(plan_of(case), case.precision, None, card_named(args.card))
    least = sum(row["least_seconds"] for row in rows)
    print(f"{case.model}, batch {case.batch:,}, {case.mode}, {case.precision}, by the sheet of {args.card}:")
    print(f"at least {1e3 * least:.3f} ms, at most {case.batch / least:,.0f} images/s; not measured\n")
    print("\n".join(kernel_table(rows)))


if __name__ == "__main__":
    with ending("tests.lab.roofline"):
        main()
