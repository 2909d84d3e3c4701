"""Measure a training step in five ways, and write steps.json beside this file.

    python -m lessons.26_fast_cpu.figures.measure_steps

takes some minutes on a machine with nothing else to do. Every variant of the training step runs in a process
of its own, since what mallopt and BLAS are told holds for a whole process; the processes take turns, so that
a machine whose speed drifts is fair to all. At the end a table is printed.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np

from tinyvit import model, objectives, ops
from tinyvit.bench.measure import matmul_rate
from tinyvit.bench.timing import Case
from tinyvit.data import normalise
from tinyvit.engine import CpuEngine, available_cores
from tinyvit.engine.blas import keep_freed_memory
from tinyvit.model import initialise
from tinyvit.model.cost import multiply_adds
from tinyvit.model.stage import backward_through, forward_through
from tinyvit.optim import AdamW, clip_norm

machine = importlib.import_module("lessons.25_memory.figures.measure").machine

HERE = Path(__file__).parent
VARIANTS = {
    "whole": "whole batch, every token to the end",
    "token": "last block: the class token's row only",
    "memory": "freed memory is kept",
    "pieces": "micro-batches, one after another",
    "threads": "micro-batches on threads, one BLAS thread each",
}


def main() -> None:
    """Measure everything, write the file, print the table."""
    args = parser().parse_args()
    if args.worker:
        answer_requests(args.worker[0], json.loads(args.worker[1]), args.threads)
        return
    cases = []
    for name in args.cases:
        model_name, batch = name.split(":")
        cases.append(measure_case(Case(model_name, 32, int(batch), "train", args.threads), args))
    result = {
        "machine": machine(args.threads),
        "settings": {"rounds": args.rounds, "steps": args.steps},
        "cases": cases,
    }
    args.output.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(table(result))


def measure_case(case: Case, args: argparse.Namespace) -> dict:
    """All variants of one case, in turn."""
    processes = {name: Process(name, case.as_dict(), args.threads) for name in VARIANTS}
    rounds = {name: [] for name in VARIANTS}
    try:
        for process in processes.values():
            process.ask(2)  # warm-up
        for number in range(args.rounds):
            for name, process in processes.items():
                time.sleep(0.2)  # the last one's BLAS threads look out for work a little longer
                rounds[name].append(process.ask(args.steps))
            print(f"{case.model}: round {number + 1} of {args.rounds}", file=sys.stderr)
    finally:
        for process in processes.values():
            process.close()
    with Process("rate", {"seconds": args.seconds}, args.threads) as process:
        rate = process.ask(1)
    variants = []
    for name in VARIANTS:
        seconds = [answer["seconds"] for answer in rounds[name]]
        faults = [answer["faults"] for answer in rounds[name]]
        variants.append(
            {
                "name": name,
                "images_per_second": round(case.batch / float(np.median(seconds)), 1),
                "faults_per_step": None if None in faults else round(float(np.median(faults))),
                "seconds_per_step": [round(s, 5) for s in seconds],
            }
        )
    return {
        "model": case.model,
        "batch": case.batch,
        "micro_batch": CpuEngine(case.config, initialise(case.config)).micro_batch,
        "products_alone": round(rate / (3 * multiply_adds(case.config)), 1),
        "variants": variants,
    }


class Process:
    """A process that carries out one variant; ask(steps) returns its answer."""

    def __init__(self, name: str, case: dict, threads: int):
        command = [sys.executable, "-m", "lessons.26_fast_cpu.figures.measure_steps"]
        command += ["--worker", name, json.dumps(case), "--threads", str(threads)]
        count = {f"{library}_NUM_THREADS": str(threads) for library in ("OPENBLAS", "OMP", "MKL")}
        self._process = subprocess.Popen(
            command,
            cwd=HERE.parents[2],
            env=os.environ | count,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, steps: int) -> dict:
        self._process.stdin.write(f"{steps}\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"a measuring process ended with status {self._process.wait()}")
        return json.loads(line)

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait()

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def answer_requests(name: str, case: dict, threads: int) -> None:
    """In the process: read a number of steps a line, answer each with a line of JSON."""
    if name == "rate":
        answer = lambda _: matmul_rate(threads, **case)
    else:
        step = make_step(name, Case(**case))

        def answer(steps: int) -> dict:
            seconds, before = [], page_faults()
            for _ in range(steps):
                start = time.perf_counter()
                step()
                seconds.append(time.perf_counter() - start)
            faults = None if before is None else (page_faults() - before) / steps
            return {"seconds": float(np.median(seconds)), "faults": faults}

    for line in sys.stdin:
        print(json.dumps(answer(int(line))), flush=True)


def make_step(name: str, case: Case) -> Callable[[], None]:
    """A whole training step, clipping and AdamW included; the variants differ in how they get gradients."""
    config = case.config
    params = initialise(config)
    pixels, labels = case.data()
    images = normalise(pixels, params.flat.dtype)
    grads, optimizer = params.zeros_like(), AdamW(params, weight_decay=0.05)
    if name in ("memory", "pieces"):
        keep_freed_memory()

    def whole() -> None:
        stages = model.stages(config, all_tokens=True)
        logits, caches = forward_through(stages, params, images)
        _, loss_cache = ops.cross_entropy(logits, labels)
        backward_through(stages, ops.cross_entropy_backward(loss_cache), caches, grads)

    def whole_batch() -> None:
        objectives.loss_and_grads(config, params, images, labels, grads)

    def pieces() -> None:
        for part in parts:
            share = (part.stop - part.start) / case.batch
            objectives.loss_and_grads(config, params, images[part], labels[part], grads, share=share)

    def threads() -> None:
        engine.loss_and_grads(images, labels)

    if name in ("pieces", "threads"):
        engine = CpuEngine(config, params, threads=case.threads)
        engine.least_tokens_to_fold = math.inf  # the blocks as the model computes them
        grads = engine.grads
        number = max(1, round(case.batch / engine.micro_batch))
        parts = [slice(a, b) for a, b in pairwise(case.batch * i // number for i in range(number + 1))]
    ways = {"whole": whole, "token": whole_batch, "memory": whole_batch, "pieces": pieces, "threads": threads}
    gradients, steps = ways[name], iter(range(1, 1_000_000))

    def step() -> None:
        grads.flat.fill(0)
        gradients()
        clip_norm(grads, 1.0)
        optimizer.step(grads, 1e-3, next(steps))

    return step


def page_faults() -> int | None:
    """Pages handed to this process so far without reading a disk; None where the system does not say."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def table(result: dict) -> str:
    """The five ways as a table in Markdown; lesson 25 begins with its first three rows."""
    cases = result["cases"]
    head = [f"{c['model']}, {c['batch']} images: images a second | page faults a step" for c in cases]
    lines = ["| | " + " | ".join(head) + " |", "|---|" + "---:|---:|" * len(cases)]
    for number, (name, words) in enumerate(VARIANTS.items()):
        row = [f"{number + 1}. {words}"]
        for case in cases:
            variant = next(v for v in case["variants"] if v["name"] == name)
            faults = variant["faults_per_step"]
            row += [f"{variant['images_per_second']:,.0f}", "-" if faults is None else f"{faults:,}"]
        lines.append("| " + " | ".join(row) + " |")
    row = ["matrix products alone"]
    for case in cases:
        row += [f"{case['products_alone']:,.0f}", ""]
    return "\n".join([*lines, "| " + " | ".join(row) + " |"])


def parser() -> argparse.ArgumentParser:
    """The command line."""
    p = argparse.ArgumentParser(description="Measure a training step in five ways on this machine.")
    p.add_argument("--rounds", type=int, default=7, help="(default: 7)")
    p.add_argument("--steps", type=int, default=3, help="steps a round (default: 3)")
    p.add_argument("--seconds", type=float, default=0.5, help="for the matrix products (default: 0.5)")
    p.add_argument("--threads", type=int, default=available_cores(), help="(default: all cores)")
    p.add_argument("--cases", nargs="+", default=["micro/4:64", "Ti/4:128"], metavar="MODEL:BATCH")
    p.add_argument("--output", type=Path, default=HERE / "steps.json")
    p.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    return p


if __name__ == "__main__":
    main()
