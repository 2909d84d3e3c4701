"""`python -m tinyvit.bench`: measure the speed of training or inference, and see where the time goes."""

from __future__ import annotations

import argparse
import importlib.util
import json

import numpy as np

from tinyvit.benchmark.breakdown import breakdown
from tinyvit.benchmark.case import Case
from tinyvit.benchmark.compare import ratios, time_sides
from tinyvit.benchmark.machine import matmul_rate
from tinyvit.benchmark.numpy_side import ENGINES
from tinyvit.engine import available_cores
from tinyvit.errors import UserError
from tinyvit.model.cost import multiply_adds
from tinyvit.shell.command import make_parser, positive_int, run_command, thread_count
from tinyvit.shell.flags import add_json_flag

_EPILOG = """\
examples:
  python -m tinyvit.bench --model Ti/4 --batch-size 128
  python -m tinyvit.bench --model S/16 --image-size 224 --batch-size 8 --mode infer --vs torch
"""


def main(args: argparse.Namespace) -> None:
    """Run the benchmark, and print the results."""
    threads = args.threads or available_cores()
    case = Case(args.model, args.image_size, args.batch_size, args.mode, threads)
    config = case.config  # fails here, not in another process, if there is no such model
    if args.vs and importlib.util.find_spec("torch") is None:
        raise UserError(
            "--vs torch needs PyTorch, which is not installed: run pip install torch, or omit --vs."
        )
    sides = [("numpy", args.engine)]
    if args.vs:
        variants = ("eager", "compile") if args.compile else ("eager",)
        sides += [("torch", variant) for variant in variants]

    rate = matmul_rate(threads)
    work = multiply_adds(config) * case.batch * (3 if case.mode == "train" else 1)
    timings = time_sides(case, sides, args.rounds, args.steps)
    rate = max(rate, matmul_rate(threads))  # measured twice: the machine may have been busy the first time
    result = {
        "case": case.as_dict(),
        "matmul_gmacs_per_second": rate / 1e9,
        "sides": [
            {
                "name": timing.name,
                "ms_per_step": 1e3 * timing.median,
                "images_per_second": case.batch / timing.median,
                "share_of_matmul_bound": work / timing.median / rate,
                "peak_bytes": timing.peak_bytes,
            }
            for timing in timings
        ],
        "ratios": {other.name: ratios(timings[0], other).tolist() for other in timings[1:]},
    }
    if args.breakdown:
        result["breakdown_seconds"] = breakdown(case, args.breakdown)
    print(json.dumps(result, indent=2) if args.json else _table(result))


def _table(result: dict) -> str:
    case = result["case"]
    what = "training step" if case["mode"] == "train" else "inference"
    lines = [
        f"{case['model']} at {case['image_size']} px, batch {case['batch']}, {what}, float32, "
        f"{case['threads']} threads; "
        f"matrix products alone reach {2 * result['matmul_gmacs_per_second']:.0f} GFLOP/s",
        "",
        f"{'':16}{'ms/step':>10}{'img/s':>10}{'of bound':>10}{'peak memory':>14}",
    ]
    for side in result["sides"]:
        memory = f"{side['peak_bytes'] / 2**20:,.0f} MiB" if side["peak_bytes"] else "-"
        lines.append(
            f"{side['name']:16}{side['ms_per_step']:10.1f}{side['images_per_second']:10.1f}"
            f"{100 * side['share_of_matmul_bound']:9.0f}%{memory:>14}"
        )
    for name, values in result["ratios"].items():
        lines.append(
            f"\ntinyvit is {np.median(values):.2f} times as fast as {name}: median of {len(values)} pairs, "
            f"from {min(values):.2f} to {max(values):.2f}"
        )
    if "breakdown_seconds" in result:
        spent = result["breakdown_seconds"]
        whole = sum(spent.values())
        lines += ["", "time in each operation, on one thread:"]
        lines += [
            f"  {name:30}{1e3 * s:9.2f} ms{100 * s / whole:6.1f}%"
            for name, s in spent.items()
            if s > 0.002 * whole
        ]
    return "\n".join(lines)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    p = make_parser("bench", __doc__, _EPILOG)
    p.add_argument("--model", default="Ti/4", metavar="SIZE/PATCH", help="model to time (default: Ti/4)")
    p.add_argument(
        "--image-size",
        type=positive_int,
        default=32,
        metavar="N",
        help="give the model images of N x N pixels (default: 32)",
    )
    p.add_argument(
        "--batch-size",
        type=positive_int,
        default=128,
        metavar="N",
        help="number of images in each step (default: 128)",
    )
    p.add_argument(
        "--mode",
        choices=("train", "infer"),
        default="train",
        help="time whole training steps, or inference (default: train)",
    )
    p.add_argument(
        "--engine", choices=tuple(ENGINES), default="cpu", help="tinyvit engine to time (default: cpu)"
    )
    p.add_argument(
        "--threads",
        type=thread_count,
        metavar="N",
        help="number of CPU threads to use, on both sides (default: one for each available core)",
    )
    p.add_argument(
        "--vs", choices=("torch",), help="also time the same model in PyTorch, in alternation, and compare"
    )
    p.add_argument(
        "--compile", action="store_true", help="with --vs torch, time torch.compile as well as eager mode"
    )
    p.add_argument(
        "--rounds",
        type=positive_int,
        default=5,
        metavar="N",
        help="number of rounds, in each of which every side is timed once (default: 5)",
    )
    p.add_argument(
        "--steps", type=positive_int, default=3, metavar="N", help="number of steps in a round (default: 3)"
    )
    p.add_argument(
        "--breakdown",
        type=positive_int,
        metavar="N",
        help="also time each operation separately, on N images and one thread",
    )
    add_json_flag(p, "the figures as JSON")
    return p


if __name__ == "__main__":
    run_command(parser(), main)
