"""The benchmark: tinyvit beside PyTorch and, on a CPU, beside what its matrix products alone would take.

For the breakdown of a step of the reference engine, every operation is temporarily replaced by one that
records its own time: its running time minus that of the operations it calls. What a step does beside them has
a name in brackets; on few images, the optimiser weighs more than in a batch. All of this runs on one thread,
so that no time is spent waiting for other threads.
"""

import functools
import importlib.util
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from tinyvit import ops
from tinyvit.backend import select_device
from tinyvit.bench.timing import Case, ratios, time_sides
from tinyvit.bench.tinyvit_side import make_step
from tinyvit.data import make_batch
from tinyvit.engine.blas import blas_name, keep_freed_memory, one_blas_thread
from tinyvit.model import Params
from tinyvit.model.block import block, block_backward, last_block, last_block_backward
from tinyvit.model.cost import multiply_adds
from tinyvit.optim import clip_norm
from tinyvit.optim.adam import Adam
from tinyvit.support.errors import UserError


def torch_sides(case: Case, compiled: bool) -> list[str]:
    """The ways in which PyTorch may be the fastest at a case; with compiled, torch.compile too.

    On a GPU in bf16, each of them with products in bfloat16 (autocast), and with all weights in it (pure).
    Raises UserError if PyTorch is not installed.
    """
    if importlib.util.find_spec("torch") is None:
        raise UserError(
            "--vs torch needs PyTorch, which is not installed: run pip install torch, or omit --vs."
        )
    ways = ["torch eager", "torch compile"] if compiled else ["torch eager"]
    if (case.device, case.precision) != ("gpu", "bf16"):
        return ways
    return [f"{way} {numbers}" for way in ways for numbers in ("autocast", "pure")]


def measure(case: Case, engine: str, rivals: Sequence[str], rounds: int, steps: int) -> dict:
    """All measurements of a case, as a dictionary for JSON; rivals are PyTorch's sides.

    Raises UserError if there is no GPU for the case, or if the engine cannot do it there.
    """
    device = select_device(case.device)
    if case.device == "gpu" and not device.is_gpu:
        raise UserError(device.note.removesuffix(" NumPy is used instead."))
    on_cpu, warm_up = case.device == "cpu", 3 if case.device == "cpu" else 10
    rate = matmul_rate(case.threads) if on_cpu else 0.0
    timings = time_sides(case, [f"tinyvit {engine}", *rivals], rounds, steps, warm_up)
    result: dict[str, Any] = {
        "case": case.as_dict(),
        "device": device.label,
        "sides": [
            {
                "name": timing.name,
                "ms_per_step": 1e3 * timing.median,
                "images_per_second": case.batch / timing.median,
                "peak_bytes": timing.peak_bytes,
            }
            for timing in timings
        ],
        "ratios": {other.name: ratios(timings[0], other).tolist() for other in timings[1:]},
    }
    if on_cpu:
        rate = max(rate, matmul_rate(case.threads))  # again: it may have been busy the first time
        work = multiply_adds(case.config) * case.batch * (3 if case.mode == "train" else 1)
        result |= {"blas": blas_name(), "matmul_gmacs_per_second": rate / 1e9}
        for side, timing in zip(result["sides"], timings, strict=True):
            side["share_of_matmul_bound"] = work / timing.median / rate
    return result


def table(result: dict) -> str:
    """The table for what measure gives; and for a breakdown, if its seconds are there too."""
    case, where = result["case"], result["device"]
    what = "training step" if case["mode"] == "train" else "inference"
    on_cpu = case["device"] == "cpu"
    if on_cpu:
        flops = 2 * result["matmul_gmacs_per_second"]
        where = f"{case['threads']} threads; matrix products alone reach {flops:.0f} GFLOP/s"
    precision = "float32" if on_cpu else case["precision"]
    lines = [
        f"{case['model']} at {case['image_size']} px, batch {case['batch']:,}, {what}, {precision}, {where}",
        *([f"NumPy multiplies with {result['blas']}"] if result.get("blas") else []),
        "",
        f"{'':24}{'ms/step':>10}{'img/s':>12}{'of bound' if on_cpu else '':>10}{'peak memory':>14}",
    ]
    for side in result["sides"]:
        bound = f"{100 * side['share_of_matmul_bound']:.0f}%" if on_cpu else ""
        memory = f"{side['peak_bytes'] / 2**20:,.0f} MiB" if side["peak_bytes"] else "-"
        speed = f"{side['ms_per_step']:10.2f}{side['images_per_second']:12,.1f}"
        lines.append(f"{side['name']:24}{speed}{bound:>10}{memory:>14}")
    for name, values in result["ratios"].items():
        lines.append(
            f"\ntinyvit is {np.median(values):.2f} times as fast as {name}: median of {len(values)} pairs, "
            f"from {min(values):.2f} to {max(values):.2f}"
        )
    if spent := result.get("breakdown_seconds"):
        whole = sum(spent.values())
        lines += ["", "time in each operation of the reference engine, on one thread:"]
        lines += [
            f"  {name:30}{1e3 * s:9.2f} ms{100 * s / whole:6.1f}%"
            for name, s in spent.items()
            if s > 0.002 * whole
        ]
    return "\n".join(lines)


def matmul_rate(threads: int, seconds: float = 1.0) -> float:
    """Multiply-adds per second of float32 products, `threads` of them in parallel, each on one core.

    Uses square matrices that stay in the cache, and the best of many rounds, since this is a bound.
    """
    side = 512

    def products(thread: int) -> None:
        a, b, c = triples[thread]
        for _ in range(20):
            np.matmul(a, b, out=c)

    rng = np.random.default_rng(0)
    triples = [tuple(rng.standard_normal((3, side, side), dtype=np.float32)) for _ in range(threads)]
    rates = []
    with one_blas_thread(), ThreadPoolExecutor(threads) as pool:
        list(pool.map(products, range(threads)))  # warm-up
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            start = time.perf_counter()
            list(pool.map(products, range(threads)))
            rates.append(threads * 20 * side**3 / (time.perf_counter() - start))
    return max(rates)


_BESIDE = dict.fromkeys((block, block_backward, last_block, last_block_backward), "(sums with skips)")
_BESIDE |= {make_batch: "(making the batch)", clip_norm: "(clipping)"}
_METHODS = [(Params, "add", "(adding up gradients)"), (Adam, "step", "(optimiser)")]


def breakdown(case: Case, images: int, rounds: int = 5) -> dict[str, float]:
    """Seconds that a step on `images` images spends in each operation itself, and in the rest."""
    step = make_step(replace(case, batch=images), "reference")
    keep_freed_memory()
    with one_blas_thread():
        step()  # a warm-up
        with timed_operations() as spent:
            start = time.perf_counter()
            for _ in range(rounds):
                step()
            whole = time.perf_counter() - start
    result = {name: seconds / rounds for name, seconds in spent.most_common()}
    return result | {"rest": (whole - spent.total()) / rounds}


@contextmanager
def timed_operations() -> Iterator[Counter]:
    """Within this context, each function of tinyvit.ops adds its own seconds to the yielded counter.

    So does what a step does beside them, under names in brackets.
    """
    spent: Counter = Counter()
    inner = [0.0]  # for each running operation, outermost first: the seconds spent in those it called
    functions = {
        f: name for name in ops.__all__ if callable(f := getattr(ops, name)) and not isinstance(f, type)
    } | _BESIDE
    modules = [module for name, module in sys.modules.items() if name.startswith("tinyvit.") and module]
    places = [
        (module, function.__name__, label)
        for module in modules
        for function, label in functions.items()
        if vars(module).get(function.__name__) is function
    ]
    replaced = [(owner, name, getattr(owner, name), label) for owner, name, label in places + _METHODS]
    for owner, name, function, label in replaced:
        setattr(owner, name, _timed(function, label, spent, inner))
    try:
        yield spent
    finally:
        for owner, name, function, _ in replaced:
            setattr(owner, name, function)


def _timed(function: Callable, name: str, spent: Any, inner: list[float]) -> Callable:
    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        inner.append(0.0)
        start = time.perf_counter()
        result = function(*args, **kwargs)
        seconds = time.perf_counter() - start
        spent[name] += seconds - inner.pop()
        inner[-1] += seconds
        return result

    return run
