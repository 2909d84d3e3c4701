"""`python -m tinyvit.bench`: measure the speed of training or inference, alone or beside PyTorch."""

import argparse
import importlib.util
import json

from tinyvit.benchmark import in_time, on_cpu, on_gpu
from tinyvit.benchmark.case import Case
from tinyvit.benchmark.flags import ROUNDS, add_flags, check_flags
from tinyvit.benchmark.gpu_table import gpu_table, roofline_table
from tinyvit.cores import available_cores
from tinyvit.errors import UserError
from tinyvit.shell.command import make_parser, run_command

_EPILOG = """\
With --minutes, everything that needs a GPU is measured and checked until the time is up, the most important
first: agreement with the reference, speed, kernels, PyTorch, the tests; then other batches, inference,
memory, races, a whole training. After each command, OUT/RESULTS.md is written anew, and its figures are in
OUT/results-DIGEST.json. The same call continues with what is not done yet.

examples:
  python -m tinyvit.bench --model Ti/4 --batch-size 128
  python -m tinyvit.bench --model S/16 --image-size 224 --batch-size 8 --mode infer --vs torch
  python -m tinyvit.bench --device gpu --model Ti/4 --batch-size 512 --vs torch --compile
  python -m tinyvit.bench --predict H200 --model Ti/4 --batch-size 512
  python -m tinyvit.bench --device gpu --minutes 9 --out results
"""


def main(args: argparse.Namespace) -> int:
    """Run the benchmark, and print the results; returns the exit status."""
    check_flags(args)
    if args.minutes:
        return in_time.measure(args.minutes, args.out)
    case = _case(args)
    if args.predict is not None:
        result, table = on_gpu.predict(case, args.predict), roofline_table
    elif args.device == "gpu":
        result = on_gpu.measure(case, args.engine or "cuda", _torch(args), args.rounds or ROUNDS, args.steps)
        table = gpu_table
    else:
        engine, steps = args.engine or "cpu", args.steps or 3
        result = on_cpu.measure(case, engine, _torch(args), args.rounds or ROUNDS, steps, args.breakdown)
        table = on_cpu.cpu_table
    print(json.dumps(result, indent=2) if args.json else table(result))
    return 0


def _case(args: argparse.Namespace) -> Case:
    on_card = args.predict is not None or args.device == "gpu"
    case = Case(
        args.model or "Ti/4",
        args.image_size or 32,
        args.batch_size or 128,
        args.mode or "train",
        args.threads or available_cores(),
        args.precision or ("bf16" if on_card else "fp32"),
    )
    assert case.config  # fails here, not in another process, if there is no such model
    return case


def _torch(args: argparse.Namespace) -> tuple[str, ...]:
    """What to compare with: the ways in which PyTorch is timed too."""
    if not args.vs:
        return ()
    if importlib.util.find_spec("torch") is None:
        raise UserError(
            f"--vs {args.vs} needs PyTorch, which is not installed: run pip install torch, or omit --vs."
        )
    if args.vs != "torch":
        return (args.vs,)
    return ("eager", "compile") if args.compile else ("eager",)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    p = make_parser("bench", __doc__, _EPILOG)
    add_flags(p)
    return p


if __name__ == "__main__":
    run_command(parser(), main)
