"""The flags of `python -m tinyvit.bench`, and which of them go together."""

import argparse

from tinyvit.benchmark.gpu_side import ENGINES as GPU_ENGINES
from tinyvit.benchmark.numpy_side import ENGINES as CPU_ENGINES
from tinyvit.benchmark.roofline import CARDS
from tinyvit.engine.cuda.plan.options import PRECISIONS
from tinyvit.errors import UserError
from tinyvit.shell.command import pixel_count, positive_int, thread_count
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
    for flag in _MEASURING if predicts else ():
        if getattr(args, flag):
            raise UserError(f"--{flag} does not go with --predict, which measures nothing: omit one of them.")
    if args.compile and not args.vs:
        raise UserError("--compile goes with --vs torch only.")
    if args.precision and not (on_gpu or predicts):
        raise UserError("--precision needs --device gpu or --predict: on a CPU, all is computed in float32.")
    if args.breakdown and on_gpu:
        raise UserError("--breakdown is for the CPU: on a GPU, every kernel is timed anyway.")
    engines = GPU_ENGINES if on_gpu else tuple(CPU_ENGINES)
    if args.engine and args.engine not in engines:
        where = "a GPU" if on_gpu else "a CPU"
        raise UserError(f"there is no engine {args.engine} for {where}: expected {' or '.join(engines)}.")


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
        help="measure nothing, but compute from a card's data sheet the least time that a step can take, "
        f"without a GPU; CARD is one of {', '.join(card.name for card in CARDS)}",
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
        default=ROUNDS,
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
