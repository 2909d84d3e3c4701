"""The training speed of several ranks: predicted from one process and a network or, under mpiexec, measured.

python -m lessons.30_many_devices.speed --model Ti/4 --batch-size 64
mpiexec -n 2 python -m lessons.30_many_devices.speed --model Ti/4 --batch-size 64
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from tinyvit.bench.timing import Case
from tinyvit.bench.tinyvit_side import make_step
from tinyvit.model.cost import parameter_count
from tinyvit.support.cores import cores_of_one
from tinyvit.support.distributed import ALONE, Ranks, start
from tinyvit.support.limits import AMOUNT
from tinyvit.support.shell.command import positive_float, positive_int, run_command, typed

model = importlib.import_module("lessons.30_many_devices.network")
Network, ETHERNET = model.Network, model.ETHERNET

_MESSAGES = 50  # all-reduces of one number


def predict(case: Case, sizes: Sequence[int], network: Network, steps: int) -> dict[str, Any]:
    """Steps on each number of ranks, of which each computes case.batch images, from one process's time.

    steps is the number of steps to time. The result is a dictionary for JSON.
    """
    times = _timed(make_step(case, "cpu"), steps)
    compute, size = statistics.median(times), 4 * parameter_count(case.config)
    rows = [_row(case, ranks, size, compute, network) for ranks in sizes]
    return {
        "case": case.as_dict(),
        "network": asdict(network),
        "gradient_bytes": size,
        "compute_ms": 1e3 * compute,
        "ranks": rows,
    }


def measure(case: Case, ranks: Ranks, steps: int) -> dict[str, Any]:
    """Steps on these ranks, each with case.batch images, beside what the simulation says. A collective.

    The network is measured too: latency by sums of one number, bandwidth by sums of all gradients, the spread
    by the computations. Figures are those of rank 0, or over all ranks.
    """
    size = 4 * parameter_count(case.config)
    alone = _timed(make_step(case, "cpu"), steps, ranks)  # all at once, since they share cores
    together = _timed(make_step(case, "cpu", ranks), steps, ranks)
    flat, number = np.zeros(size // 4, dtype="float32"), np.zeros(1, dtype="float32")
    all_times = ranks.gather_rows(np.array(alone))
    exchange = statistics.median(_timed(lambda: ranks.all_reduce(flat), steps, ranks))
    short = statistics.median(_timed(lambda: ranks.all_reduce(number), _MESSAGES, ranks))
    network = _fitted(ranks.size, size, short, exchange, float(all_times.std() / all_times.mean()))
    compute = float(all_times.mean())
    row = _row(case, ranks.size, size, compute, network)
    return {
        "case": case.as_dict(),
        "network": asdict(network),
        "gradient_bytes": size,
        "compute_ms": 1e3 * compute,
        "exchange_ms": 1e3 * exchange,
        "ranks": [row | {"measured_ms": 1e3 * statistics.fmean(together)}],
    }


def table(result: dict[str, Any]) -> str:
    """The table for what predict or measure gives."""
    case, network = Case(**result["case"]), Network(**result["network"])
    lines = [
        f"{case.model} at {case.image_size} px; each rank: {case.batch} images, {case.threads} "
        f"thread{'s' if case.threads > 1 else ''}, {result['compute_ms']:.1f} ms for a step of its own; "
        f"gradients of {result['gradient_bytes'] / 1e6:.1f} MB",
        f"ring: latency {1e6 * network.latency:.1f} us, bandwidth {network.bandwidth / 1e9:.2f} GB/s, "
        f"spread of all times {100 * network.spread:.0f}%",
        "",
        f"{'ranks':>5}{'batch':>9}{'MB sent':>9}{'ms/step':>10}{'if even':>10}{'img/s':>11}{'efficiency':>12}"
        + ("  measured ms/step" if "measured_ms" in result["ranks"][0] else ""),
    ]
    for row in result["ranks"]:
        lines.append(
            f"{row['ranks']:5}{row['batch']:9,}{row['sent_bytes'] / 1e6:9.1f}{row['step_ms']:10.1f}"
            f"{row['even_ms']:10.1f}{row['images_per_second']:11,.0f}{100 * row['efficiency']:11.0f}%"
            + (f"{row['measured_ms']:18.1f}" if "measured_ms" in row else "")
        )
    return "\n".join(lines)


def _row(case: Case, ranks: int, size: int, compute: float, network: Network) -> dict[str, Any]:
    step, batch = model.simulate(ranks, size, compute, network), case.batch * ranks
    return {
        "ranks": ranks,
        "batch": batch,
        "sent_bytes": model.sent_bytes(ranks, size),
        "step_ms": 1e3 * step,
        "even_ms": 1e3 * model.without_stragglers(ranks, size, compute, network),
        "images_per_second": batch / step,
        "efficiency": compute / step,
    }


def _timed(step: Callable[[], Any], count: int, ranks: Ranks = ALONE) -> list[float]:
    """Seconds of each of some steps, after one to warm up; all ranks begin together."""
    step()
    ranks.max(0)
    times = []
    for _ in range(count):
        start = time.perf_counter()
        step()
        times.append(time.perf_counter() - start)
    return times


def _fitted(ranks: int, size: int, short: float, long: float, spread: float) -> Network:
    """The network on which sums of one number and of `size` bytes take these times by equation 2."""
    rounds = 2 * (ranks - 1)
    seconds = max(long - short, 1e-9)
    return replace(Network(short / rounds, rounds * size / ranks / seconds), spread=spread)


def main(args: argparse.Namespace) -> int:
    """Measure or predict, and print the table."""
    ranks = start()
    threads = cores_of_one(ranks.neighbours, ranks.local_rank)
    case = Case(args.model, args.image_size, args.batch_size, "train", threads)
    network = Network(1e-6 * args.latency, 1e9 * args.bandwidth, args.spread)
    if ranks.size > 1:
        result = measure(case, ranks, args.steps)
    else:
        result = predict(case, args.ranks, network, args.steps)
    if ranks.is_first:
        print(table(result))
    return 0


def parser() -> argparse.ArgumentParser:
    """The command line."""
    p = argparse.ArgumentParser(
        prog="lessons.30_many_devices.speed", description="How fast several ranks train, by a simulation."
    )
    p.add_argument("--model", default="Ti/4", metavar="SIZE/PATCH", help="default: Ti/4")
    p.add_argument("--image-size", type=positive_int, default=32, metavar="N", help="default: 32 pixels")
    p.add_argument(
        "--batch-size", type=positive_int, default=128, metavar="N", help="of each rank (default: 128)"
    )
    p.add_argument("--ranks", type=positive_int, nargs="+", default=model.RANKS, metavar="R")
    p.add_argument("--steps", type=positive_int, default=10, metavar="N", help="steps to time (default: 10)")
    p.add_argument(
        "--latency",
        type=typed(AMOUNT, float),
        default=1e6 * ETHERNET.latency,
        metavar="US",
        help=f"of a message, in microseconds (default: {1e6 * ETHERNET.latency:g})",
    )
    p.add_argument(
        "--bandwidth",
        type=positive_float,
        default=ETHERNET.bandwidth / 1e9,
        metavar="X",
        help=f"GB/s from one rank to the next (default: {ETHERNET.bandwidth / 1e9:g})",
    )
    p.add_argument(
        "--spread",
        type=typed(AMOUNT, float),
        default=ETHERNET.spread,
        metavar="R",
        help=f"standard deviation of all times, as a part of their mean (default: {ETHERNET.spread:g})",
    )
    return p


if __name__ == "__main__":
    run_command(parser(), main)
