"""Predictions as a person reads them, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence

from tinyvit.benchmark.speed.prediction import Prediction, Row
from tinyvit.benchmark.speed.price import BANDWIDTH, FLOAT_RATE, HOST_LAUNCH, KERNEL_RATE, LAUNCH, MATRIX_RATE

_PERCENT = [round(100 * share) for share in (BANDWIDTH, MATRIX_RATE, FLOAT_RATE, KERNEL_RATE)]
_MICROSECONDS = [round(1e6 * seconds) for seconds in (LAUNCH, HOST_LAUNCH)]
ASSUMPTIONS = (
    "Assumed, not measured: {} % of the data sheet's bandwidth; {} % of its rate of products on tensor\n"
    "cores, {} % of that in fp32, less where tiles are few or small, and {} % inside a kernel; {} µs for\n"
    "each launch in a graph, {} µs for one by CuPy without a graph. Nothing is found in the L2 cache."
).format(*_PERCENT, *_MICROSECONDS)
_BOUNDS = {"host": "the host that launches", "launch": "launching"}
_HEAD = f"{'':28}{'launches':>9}{'MB':>13}{'GMAC':>12}{'µs':>12}{'share':>7}  bound by"


def title(model: str, size: int, precision: str, mode: str, card: str) -> str:
    """What is predicted, in one line."""
    what = "training step" if mode == "train" else "inference"
    case = f"{model} at {size} px, {what}, {precision}, on the card {card}"
    return f"{case}: predicted from its data sheet, not measured"


def details(found: Prediction) -> str:
    """The tables for one batch: each kind of kernel, each part of the model, and the sums."""
    total = found.total
    blocks = [f"batch {found.batch:,}", "", _HEAD]
    for rows in (found.kinds, found.parts, [total]):
        blocks += [_line(row, total.seconds) for row in rows] + [""]
    return "\n".join([*blocks, _summary(found)])


def comparison(predictions: Sequence[Prediction]) -> str:
    """One line for each batch."""
    lines = [
        f"{'batch':>8}{'launches':>10}{'GB':>10}{'ms':>10}{'images/s':>11}{'roofline':>11}{'workspace':>13}"
    ]
    lines[0] += f"{'unfused: launches':>20}{'GB':>11}{'images/s':>11}{'gain':>7}"
    for each in predictions:
        total, plain = each.total, each.unfused
        lines.append(
            f"{each.batch:8,}{total.launches:10,}{total.bytes_moved / 1e9:10.2f}{1e3 * total.seconds:10.2f}"
            f"{each.images_per_second:11,.0f}{each.batch / total.roofline:11,.0f}"
            f"{each.workspace / 1e6:10,.0f} MB{plain.launches:20,}{plain.bytes_moved / 1e9:11.2f}"
            f"{each.batch / plain.seconds:11,.0f}{plain.seconds / total.seconds:7.1f}"
        )
    return "\n".join([*lines, *_notes(predictions)])


def as_dict(found: Prediction) -> dict:
    """The whole prediction, for JSON."""
    return {
        "batch": found.batch,
        "seconds": found.total.seconds,
        "images_per_second": found.images_per_second,
        "workspace_bytes": found.workspace,
        "total": found.total.as_dict,
        "kinds": [row.as_dict for row in found.kinds],
        "parts": [row.as_dict for row in found.parts],
        "steps": [row.as_dict for row in found.steps],
        "unfused": found.unfused.as_dict,
    }


def _notes(predictions: Sequence[Prediction]) -> list[str]:
    """One line for each batch whose workspace alone is more than the card has."""
    return [
        f"Batch {each.batch:,} does not fit: the memory of the card {each.card.name} has "
        f"{each.card.gigabytes:g} GB."
        for each in predictions
        if each.workspace > 1e9 * each.card.gigabytes
    ]


def _line(row: Row, whole: float) -> str:
    return (
        f"{row.name:28}{row.launches:9,}{row.bytes_moved / 1e6:13,.1f}{row.multiply_adds / 1e9:12,.1f}"
        f"{1e6 * row.seconds:12,.1f}{100 * row.seconds / whole:6.1f}%  {row.bound}"
    )


def _summary(found: Prediction) -> str:
    total, plain = found.total, found.unfused
    bound = _BOUNDS.get(plain.bound, plain.bound)
    return (
        f"A step takes {1e3 * total.seconds:.2f} ms: {found.images_per_second:,.0f} images/s. By the data "
        f"sheet alone it would be {1e3 * total.roofline:.2f} ms: "
        f"{found.batch / total.roofline:,.0f} images/s.\n"
        + "\n".join([f"The workspace has {found.workspace / 1e6:,.0f} MB.", *_notes([found]), ""])
        + f"Array by array, in float32, as plain CuPy does it: {plain.launches:,} launches, "
        f"{plain.bytes_moved / 1e9:.1f} GB, {1e3 * plain.seconds:.2f} ms:\n"
        f"{found.batch / plain.seconds:,.0f} images/s, most of it bound by {bound}. "
        f"Fused kernels are {plain.seconds / total.seconds:.1f} times as fast."
    )
