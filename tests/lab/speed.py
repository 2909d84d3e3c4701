"""The speed of a case on a GPU, as JSON: beside its roofline and kernel by kernel, or beside PyTorch.

    python -m tests.lab.speed --model Ti/4 --batch-size 512
    python -m tests.lab.speed --model Ti/4 --batch-size 512 --way autocast

Kernels and products are timed one by one, outside the graph. Before and after every launch an event is
recorded. The host needs longer to launch a small kernel than the card to carry it out, and the card would
then be seen waiting; so it is first given something long to do.
"""

import argparse
import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from tests.lab.roofline import card_in, kernel_table, kernels, least_seconds, plan_of
from tinyvit.backend import array_module
from tinyvit.bench.measure import measure, table
from tinyvit.bench.timing import Case
from tinyvit.bench.tinyvit_side import make_engine_and_step
from tinyvit.engine.cuda.launch import Step
from tinyvit.engine.cuda.plan.draft import PRECISIONS
from tinyvit.support.shell.ending import ending

# The faster of these is PyTorch's side, both with torch.compile. Its other modes do not replay a graph: on
# an H100, max-autotune-no-cudagraphs compiled Ti/4 for six minutes, and a step then took three times as long.
WAYS = ("autocast", "pure")
RIVAL = "torch.compile (reduce-overhead), the faster of autocast and all weights in bf16"
ROUNDS, STEPS = 5, 20

_AHEAD_BYTES = 256 << 20  # filled again and again while the host runs ahead: some 60 µs each on an H200
_AHEAD_FILLS = 300


def speed(case: Case, engine: str = "cuda", way: str | None = None) -> dict[str, Any]:
    """The result of benchmark.measure and, without a way of PyTorch, share of the roofline and kernels."""
    plan = plan_of(case) if engine == "cuda" else None  # fails here, not in another process
    rivals = [f"torch compile {way}"] if way else []
    result = measure(case, engine, rivals, ROUNDS, STEPS)
    if plan and not way:
        card = card_in(result["device"])
        if card:
            least = least_seconds(plan.steps, card, case.precision)
            result["share_of_roofline"] = 1e3 * least / result["sides"][0]["ms_per_step"]
        seconds = [spent for _, spent in kernel_seconds(case, ROUNDS)]
        result["kernels"] = kernels(plan, case.precision, seconds, card)
    return result


def kernel_seconds(case: Case, rounds: int, ahead: int = _AHEAD_BYTES) -> list[tuple[Step, float]]:
    """Every step of the plan for the case, with the median of its seconds over some rounds."""
    engine, step = make_engine_and_step(case, "cuda")
    step()
    calls, xp = engine.latest.calls(), array_module(engine.params.flat)
    block = xp.empty(ahead, dtype="uint8")
    seconds = []
    for _ in range(1 + rounds):  # the first is a warm-up
        events = [xp.cuda.Event() for _ in range(len(calls) + 1)]
        for number in range(_AHEAD_FILLS if ahead else 0):
            block.fill(number % 2)
        events[0].record()
        for (_, call), event in zip(calls, events[1:], strict=True):
            call()
            event.record()
        events[-1].synchronize()
        seconds.append([1e-3 * xp.cuda.get_elapsed_time(a, b) for a, b in pairwise(events)])
    medians = np.median(seconds[1:], axis=0)
    return [(step, float(median)) for (step, _), median in zip(calls, medians, strict=True)]


def speed_table(result: dict[str, Any]) -> str:
    """The same, as a person reads it."""
    lines = [table(result)]
    if "share_of_roofline" in result:
        lines += ["", f"{100 * result['share_of_roofline']:.0f} % of the roofline"]
    return "\n".join(lines + (["", *kernel_table(result["kernels"])] if "kernels" in result else []))


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, and print the result."""
    p = argparse.ArgumentParser(prog="tests.lab.speed", description=__doc__.partition("\n")[0])
    p.add_argument("--model", default="Ti/4")
    p.add_argument("--batch-size", type=int, default=512)
    p.add_argument("--mode", choices=("train", "infer"), default="train")
    p.add_argument("--precision", choices=PRECISIONS, default="bf16")
    p.add_argument("--engine", choices=("cuda", "reference"), default="cuda")
    p.add_argument("--way", choices=WAYS, help="beside PyTorch, compiled, in this way of bf16")
    args = p.parse_args(argv)
    case = Case(args.model, 32, args.batch_size, args.mode, 1, args.precision, "gpu")
    print(json.dumps(speed(case, args.engine, args.way)))


if __name__ == "__main__":
    with ending("tests.lab.speed"):
        main()
