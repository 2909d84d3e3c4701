"""`python -m tinyvit.bench`: measure the speed of training or inference, alone or beside PyTorch."""

import argparse
import json

from tinyvit.bench import measure
from tinyvit.bench.timing import Case
from tinyvit.bench.tinyvit_side import ENGINES
from tinyvit.flags import add_json_flag
from tinyvit.support.cores import available_cores
from tinyvit.support.errors import UserError
from tinyvit.support.shell.command import make_parser, pixel_count, positive_int, thread_count

_EPILOG = """\
examples:
  python -m tinyvit.bench --model Ti/4 --batch-size 128
  python -m tinyvit.bench --model S/16 --image-size 224 --batch-size 8 --mode infer --vs torch
  python -m tinyvit.bench --device gpu --model Ti/4 --batch-size 512 --vs torch --compile
"""


def main(args: argparse.Namespace) -> None:
    """Run the benchmark, and print the results."""
    check_flags(args)
    on_gpu = args.device == "gpu"
    precision = args.precision or ("bf16" if on_gpu else "fp32")
    threads = args.threads or available_cores()
    case = Case(args.model, args.image_size, args.batch_size, args.mode, threads, precision, args.device)
    assert case.config  # fails here, not in another process, if there is no such model
    rivals = measure.torch_sides(case, args.compile) if args.vs else []
    engine, steps = args.engine or ENGINES[args.device][0], args.steps or (20 if on_gpu else 3)
    result = measure.measure(case, engine, rivals, args.rounds, steps)
    if args.breakdown:
        result["breakdown_seconds"] = measure.breakdown(case, args.breakdown)
    print(json.dumps(result, indent=2) if args.json else measure.table(result))


def check_flags(args: argparse.Namespace) -> None:
    """Raise UserError for flags that do not go together, or here."""
    on_gpu, engines = args.device == "gpu", ENGINES[args.device]
    if args.compile and not args.vs:
        raise UserError("--compile goes with --vs torch only.")
    if args.precision and not on_gpu:
        raise UserError("--precision needs --device gpu: on a CPU, all is computed in float32.")
    if args.breakdown and on_gpu:
        raise UserError("--breakdown is for the CPU: omit it, or --device gpu.")
    if args.engine and args.engine not in engines:
        raise UserError(f"--device {args.device} has the engines {', '.join(engines)}: choose one of them.")


def parser() -> argparse.ArgumentParser:
    """The command line."""
    p = make_parser("bench", __doc__, _EPILOG)
    p.add_argument("--model", default="Ti/4", metavar="SIZE/PATCH", help="model to time (default: Ti/4)")
    p.add_argument(
        "--image-size", type=pixel_count, default=32, metavar="N", help="pixels of a side (default: 32)"
    )
    p.add_argument(
        "--batch-size", type=positive_int, default=128, metavar="N", help="images in a step (default: 128)"
    )
    p.add_argument(
        "--mode",
        choices=("train", "infer"),
        default="train",
        help="training steps, or inference (default: train)",
    )
    p.add_argument("--device", choices=("cpu", "gpu"), default="cpu", help="device to time (default: cpu)")
    p.add_argument(
        "--precision",
        choices=("fp32", "tf32", "bf16"),
        help="precision on a GPU: float32 (fp32), with TF32 products (tf32), or activations and products in "
        "bfloat16 (default: bf16)",
    )
    p.add_argument(
        "--engine",
        choices=("cpu", "cuda", "reference"),
        help="tinyvit's engine (default: the fastest, cpu or cuda)",
    )
    p.add_argument(
        "--threads",
        type=thread_count,
        metavar="N",
        help="CPU threads on both sides (default: one for each core)",
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
        help="times that each side has its turn (default: 5)",
    )
    p.add_argument(
        "--steps", type=positive_int, metavar="N", help="steps in a turn (default: 3, and 20 on a GPU)"
    )
    p.add_argument(
        "--breakdown", type=positive_int, metavar="N", help="on a CPU, time each operation too, on N images"
    )
    add_json_flag(p, "the figures as JSON")
    return p
