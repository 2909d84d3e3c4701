"""The flags of `python -m tinyvit.bench`, and which of them go together."""

import argparse

from tinyvit.benchmark.gpu_side import ENGINES as GPU_ENGINES
from tinyvit.benchmark.numpy_side import ENGINES as CPU_ENGINES
from tinyvit.benchmark.on_gpu import WAYS
from tinyvit.benchmark.roofline import CARDS
from tinyvit.engine.cuda.plan.draft import PRECISIONS
from tinyvit.errors import UserError
from tinyvit.shell.command import pixel_count, positive_float, positive_int, some_path, thread_count
from tinyvit.shell.flags import add_json_flag

ROUNDS = 5
_MEASURING = ("vs", "compile", "engine", "threads", "steps", "breakdown")


def add_flags(p: argparse.ArgumentParser) -> None:
    """All flags of the command."""
    _add_case_flags(p)
    _add_device_flags(p)
    _add_timing_flags(p)
    add_json_flag(p, "the figures as JSON")


def check_flags(args: argparse.Namespace) -> None:
    """Raise UserError for flags that do not go together."""
    on_gpu, predicts = args.device == "gpu", args.predict is not None
    if args.minutes or args.out:
        _check_flags_in_time(args)
    for flag in _MEASURING if predicts else ():
        if getattr(args, flag):
            raise UserError(f"--{flag} does not go with --predict, which measures nothing: omit one of them.")
    if args.compile and args.vs != "torch":
        raise UserError("--compile goes with --vs torch only.")
    if args.vs in WAYS and not (on_gpu and args.precision in (None, "bf16")):
        raise UserError(f"--vs {args.vs} is for bf16 with --device gpu: otherwise, use --vs torch --compile.")
    if args.precision and not (on_gpu or predicts):
        raise UserError("--precision needs --device gpu or --predict: on a CPU, all is computed in float32.")
    if args.breakdown and on_gpu:
        raise UserError("--breakdown is for the CPU: on a GPU, every kernel is timed anyway.")
    engines = GPU_ENGINES if on_gpu else tuple(CPU_ENGINES)
    if args.engine and args.engine not in engines:
        where = "a GPU" if on_gpu else "a CPU"
        raise UserError(f"there is no engine {args.engine} for {where}: expected {' or '.join(engines)}.")


def _check_flags_in_time(args: argparse.Namespace) -> None:
    """The same for --minutes and --out."""
    example = "python -m tinyvit.bench --device gpu --minutes 9 --out results"
    if not (args.minutes and args.out and args.device == "gpu"):
        raise UserError(f"--minutes, --out and --device gpu go together: run {example}.")
    for name, value in vars(args).items():
        if value not in (None, False) and name not in ("minutes", "out", "device"):
            flag = name.replace("_", "-")
            raise UserError(f"--{flag} is for one case, and --minutes has its own cases: run {example}.")


def _add_case_flags(p: argparse.ArgumentParser) -> None:
    p.add_argument("--model", metavar="SIZE/PATCH", help="model to time (default: Ti/4)")
    p.add_argument(
        "--image-size",
        type=pixel_count,
        metavar="N",
        help="give the model images of N x N pixels (default: 32)",
    )
    p.add_argument(
        "--batch-size",
        type=positive_int,
        metavar="N",
        help="number of images in each step (default: 128)",
    )
    p.add_argument(
        "--mode",
        choices=("train", "infer"),
        help="time whole training steps, or inference (default: train)",
    )


def _add_device_flags(p: argparse.ArgumentParser) -> None:
    p.add_argument("--device", choices=("cpu", "gpu"), default="cpu", help="device to time (default: cpu)")
    p.add_argument(
        "--minutes",
        type=positive_float,
        metavar="M",
        help="on a GPU, measure and check as much as M minutes allow, the most important first",
    )
    p.add_argument(
        "--out",
        type=some_path,
        metavar="OUT",
        help="folder for the results of --minutes; if it has some already, they are continued",
    )
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
        help="measure nothing, but compute from a card's data sheet the least time that a step can take, "
        f"without a GPU; CARD is one of {', '.join(card.name for card in CARDS)}",
    )


def _add_timing_flags(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "--vs",
        choices=("torch", *WAYS),
        help="also time the same model in PyTorch, in alternation, and compare; on a GPU, autocast and pure "
        "(all weights in bf16) are torch.compile (reduce-overhead) in that way alone",
    )
    p.add_argument(
        "--compile", action="store_true", help="with --vs torch, time torch.compile as well as eager mode"
    )
    p.add_argument(
        "--rounds",
        type=positive_int,
        metavar="N",
        help=f"number of rounds, in each of which every side is timed once (default: {ROUNDS})",
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
