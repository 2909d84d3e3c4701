"""The flags of `python -m tinyvit.bench`, and which of them go together."""

from __future__ import annotations

import argparse

from tinyvit.benchmark.gpu_side import ENGINES as GPU_ENGINES
from tinyvit.benchmark.numpy_side import ENGINES as CPU_ENGINES
from tinyvit.benchmark.rings import ETHERNET
from tinyvit.benchmark.speed.cards import names
from tinyvit.benchmark.tricks_table import PAIRS
from tinyvit.engine.cuda.plan.options import PRECISIONS
from tinyvit.errors import UserError
from tinyvit.shell.command import (
    natural_float,
    pixel_count,
    positive_float,
    positive_int,
    some_path,
    thread_count,
)
from tinyvit.shell.flags import add_json_flag

ROUNDS = 5
_MEASURING = ("all", "vs", "compile", "engine", "threads", "steps", "breakdown")


def add_flags(p: argparse.ArgumentParser) -> None:
    """All flags of the command."""
    _add_case_flags(p)
    _add_device_flags(p)
    _add_timing_flags(p)
    _add_rank_flags(p)
    add_json_flag(p, "the figures as JSON")


def check_flags(args: argparse.Namespace) -> None:
    """Raise UserError for flags that do not go together."""
    on_gpu, predicts = args.device == "gpu", args.predict is not None
    for flag in _MEASURING if predicts else ():
        if getattr(args, flag):
            raise UserError(f"--{flag} does not go with --predict, which measures nothing: omit one of them.")
    if args.compile and not args.vs:
        raise UserError("--compile goes with --vs torch only.")
    for flag, given in (("--out", args.out), ("--data-dir", args.data_dir)):
        if given and not args.all:
            raise UserError(f"{flag} goes with --all only.")
    if args.all and not (on_gpu and args.out):
        raise UserError("--all needs --device gpu and --out DIR, the folder for the results.")
    if args.batch_size and len(args.batch_size) > 1 and not predicts:
        raise UserError("several batch sizes go with --predict only: give one, or run the command again.")
    if args.precision and not (on_gpu or predicts):
        raise UserError("--precision needs --device gpu or --predict: on a CPU, all is computed in float32.")
    if args.breakdown and on_gpu:
        raise UserError("--breakdown is for the CPU: on a GPU, every kernel is timed anyway.")
    if args.tricks and _other_than_tricks(args):
        raise UserError(
            "--tricks times parts of the CPU engine on one thread, and goes with --model, --image-size, "
            "--rounds and --json only: omit the other flags."
        )
    _check_ranks(args, on_gpu or predicts or args.all or args.vs or args.breakdown or args.mode == "infer")
    engines = GPU_ENGINES if on_gpu else tuple(CPU_ENGINES)
    if args.engine and args.engine not in engines:
        where = "a GPU" if on_gpu else "a CPU"
        raise UserError(f"there is no engine {args.engine} for {where}: expected {' or '.join(engines)}.")


def _other_than_tricks(args: argparse.Namespace) -> bool:
    """Whether there are flags that do not go with --tricks."""
    given = (*_MEASURING, "batch_size", "precision")
    is_other = args.device == "gpu" or args.mode == "infer" or args.predict is not None
    return is_other or args.ranks is not None or any(getattr(args, name) for name in given)


def _check_ranks(args: argparse.Namespace, other: bool) -> None:
    """Raise UserError for flags that do not go with --ranks, or go with nothing else."""
    if args.ranks is None:
        for flag in ("latency", "bandwidth", "spread"):
            if getattr(args, flag) is not None:
                raise UserError(f"--{flag} goes with --ranks only.")
    elif other:
        raise UserError("--ranks times training steps on the CPU, and nothing else: omit the other flags.")


def _add_case_flags(p: argparse.ArgumentParser) -> None:
    p.add_argument("--model", default="Ti/4", metavar="SIZE/PATCH", help="model to time (default: Ti/4)")
    p.add_argument(
        "--image-size",
        type=pixel_count,
        default=32,
        metavar="N",
        help="give the model images of N x N pixels (default: 32)",
    )
    p.add_argument(
        "--batch-size",
        type=positive_int,
        nargs="+",
        metavar="N",
        help="number of images in each step; with --predict also several, to compare (default: 128)",
    )
    p.add_argument(
        "--mode",
        choices=("train", "infer"),
        default="train",
        help="time whole training steps, or inference (default: train)",
    )


def _add_device_flags(p: argparse.ArgumentParser) -> None:
    p.add_argument("--device", choices=("cpu", "gpu"), default="cpu", help="device to time (default: cpu)")
    p.add_argument(
        "--precision",
        choices=PRECISIONS,
        help="precision on a GPU: float32 (fp32), with TF32 products (tf32), or activations and products in "
        "bfloat16 (default: bf16)",
    )
    p.add_argument(
        "--engine",
        choices=tuple(dict.fromkeys((*CPU_ENGINES, *GPU_ENGINES))),
        help="tinyvit engine to time (default: the fastest, cpu or cuda)",
    )
    p.add_argument(
        "--threads",
        type=thread_count,
        metavar="N",
        help="number of CPU threads to use, on both sides (default: one for each available core)",
    )
    p.add_argument(
        "--predict",
        metavar="CARD",
        help="measure nothing, but compute from the data sheet of a card how fast it would be; needs no GPU. "
        f"CARD is one of {', '.join(names())}",
    )
    p.add_argument(
        "--all",
        action="store_true",
        help="with --device gpu, run all checks and all measurements, and write a report; results that an "
        "interrupted run has left in the folder are kept",
    )
    p.add_argument("--out", type=some_path, metavar="DIR", help="with --all, folder for the results")
    p.add_argument(
        "--data-dir",
        type=some_path,
        metavar="DIR",
        help="with --all, folder with CIFAR-10, on which the recipe is then run too",
    )


def _add_timing_flags(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "--vs", choices=("torch",), help="also time the same model in PyTorch, in alternation, and compare"
    )
    p.add_argument(
        "--compile", action="store_true", help="with --vs torch, time torch.compile as well as eager mode"
    )
    p.add_argument(
        "--rounds",
        type=positive_int,
        metavar="N",
        help="number of rounds, in each of which every side is timed once (default: "
        f"{ROUNDS}, and {PAIRS} with --tricks)",
    )
    p.add_argument(
        "--steps",
        type=positive_int,
        metavar="N",
        help="number of steps in a round (default: 3, and 20 on a GPU)",
    )
    p.add_argument(
        "--breakdown",
        type=positive_int,
        metavar="N",
        help="on a CPU, also time each operation separately, on N images and one thread",
    )
    p.add_argument(
        "--tricks",
        action="store_true",
        help="on a CPU, time each trick of the CPU engine alone, on one thread, beside the plain operations",
    )


def _add_rank_flags(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "--ranks",
        type=positive_int,
        nargs="*",
        metavar="R",
        help="simulate training by R processes that sum their gradients around a ring, from the time of one; "
        "under mpiexec, measure it instead and compare. --batch-size is that of each process (default: 2 to "
        "1024)",
    )
    p.add_argument(
        "--latency",
        type=natural_float,
        metavar="US",
        help=f"with --ranks, time of a short message in microseconds (default: {1e6 * ETHERNET.latency:g}; "
        "under mpiexec, as measured)",
    )
    p.add_argument(
        "--bandwidth",
        type=positive_float,
        metavar="X",
        help=f"with --ranks, GB/s from one process to the next (default: {ETHERNET.bandwidth / 1e9:g})",
    )
    p.add_argument(
        "--spread",
        type=natural_float,
        metavar="R",
        help="with --ranks, standard deviation of all times as a part of their mean "
        f"(default: {ETHERNET.spread:g})",
    )
