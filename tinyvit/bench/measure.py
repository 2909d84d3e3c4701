"""The benchmark: tinyvit beside PyTorch and, on a CPU, beside what its matrix products alone would take."""

import importlib.util
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from tinyvit.backend import select_device
from tinyvit.bench.case import Case
from tinyvit.bench.timing import ratios, time_sides
from tinyvit.engine.blas import blas_name, one_blas_thread
from tinyvit.model.cost import multiply_adds
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
