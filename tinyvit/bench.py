"""`python -m tinyvit.bench`: measure the speed of training or inference, or predict it for a GPU."""

from __future__ import annotations

import argparse
import importlib.util
import json
from dataclasses import replace

from tinyvit.benchmark import everything, on_cpu, on_gpu, on_ranks, tricks_table
from tinyvit.benchmark.case import Case
from tinyvit.benchmark.flags import ROUNDS, add_flags, check_flags
from tinyvit.benchmark.gpu_table import gpu_table
from tinyvit.benchmark.rings import ETHERNET, RANKS
from tinyvit.benchmark.speed import table
from tinyvit.benchmark.speed.cards import card_named
from tinyvit.benchmark.speed.prediction import predict
from tinyvit.engine.cores import cores_of_one
from tinyvit.errors import UserError
from tinyvit.parallel import start
from tinyvit.shell.command import make_parser, run_command

_EPILOG = """\
examples:
  python -m tinyvit.bench --model Ti/4 --batch-size 128
  python -m tinyvit.bench --model S/16 --image-size 224 --batch-size 8 --mode infer --vs torch
  python -m tinyvit.bench --predict H200 --model Ti/4 --batch-size 128 512 2048
  python -m tinyvit.bench --tricks --model S/4
  python -m tinyvit.bench --device gpu --model Ti/4 --batch-size 512 --vs torch --compile
  python -m tinyvit.bench --device gpu --all --out results
  python -m tinyvit.bench --ranks --model Ti/4 --batch-size 64
  mpiexec -n 2 python -m tinyvit.bench --ranks --model Ti/4 --batch-size 64
"""


def main(args: argparse.Namespace) -> int:
    """Run the benchmark, and print the results; returns the exit status."""
    check_flags(args)
    if args.all:
        return everything.run(args.out, args.data_dir)
    case = _case(args)
    if args.predict is not None:
        _predict(args, case)
        return 0
    if args.ranks is not None:
        _ranks(args, case)
        return 0
    if args.tricks:
        result = tricks_table.measure(case, args.rounds or tricks_table.PAIRS)
        print(json.dumps(result, indent=2) if args.json else tricks_table.table(result))
        return 0
    torch: tuple[str, ...] = ()
    rounds = args.rounds or ROUNDS
    if args.vs:
        torch = ("eager", "compile") if args.compile else ("eager",)
        if importlib.util.find_spec("torch") is None:
            raise UserError(
                "--vs torch needs PyTorch, which is not installed: run pip install torch, or omit --vs."
            )
    if args.device == "gpu":
        result = on_gpu.measure(case, args.engine or "cuda", torch, rounds, args.steps)
        text = gpu_table(result)
    else:
        result = on_cpu.measure(case, args.engine or "cpu", torch, rounds, args.steps or 3, args.breakdown)
        text = on_cpu.cpu_table(result)
    print(json.dumps(result, indent=2) if args.json else text)
    return 0


def _case(args: argparse.Namespace) -> Case:
    on_card, ranks = args.predict is not None or args.device == "gpu", start()
    case = Case(
        args.model,
        args.image_size,
        args.batch_size[0] if args.batch_size else 128,
        args.mode,
        args.threads or cores_of_one(ranks.neighbours, ranks.local_rank),
        args.precision or ("bf16" if on_card else "fp32"),
    )
    assert case.config  # fails here, not in another process, if there is no such model
    return case


def _ranks(args: argparse.Namespace, case: Case) -> None:
    ranks, steps = start(), args.steps or 10
    given = {
        "latency": args.latency and 1e-6 * args.latency,
        "bandwidth": args.bandwidth and 1e9 * args.bandwidth,
    }
    given = {name: value for name, value in (given | {"spread": args.spread}).items() if value is not None}
    network = replace(ETHERNET, **given)
    if ranks.size > 1:
        result = on_ranks.measure(case, ranks, network if given else None, steps)
    else:
        result = on_ranks.predict(case, args.ranks or RANKS, network, steps)
    if ranks.is_first:
        print(json.dumps(result, indent=2) if args.json else on_ranks.table(result))


def _predict(args: argparse.Namespace, case: Case) -> None:
    card = card_named(args.predict)
    batches = args.batch_size or [case.batch]
    found = [predict(case.config, batch, case.precision, case.mode, card) for batch in batches]
    if args.json:
        batches = [table.as_dict(each) for each in found]
        print(json.dumps({"case": case.as_dict(), "card": card.name, "predictions": batches}, indent=2))
        return
    print(table.title(case.model, case.image_size, case.precision, case.mode, card.name), end="\n\n")
    print(table.details(found[0]) if len(found) == 1 else table.comparison(found), end="\n\n")
    print(table.ASSUMPTIONS)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    p = make_parser("bench", __doc__, _EPILOG)
    add_flags(p)
    return p


if __name__ == "__main__":
    run_command(parser(), main)
