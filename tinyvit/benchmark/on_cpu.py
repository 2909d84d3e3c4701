"""The benchmark on a CPU: tinyvit beside what its matrix products alone would take, and beside PyTorch."""

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from tinyvit.benchmark.breakdown import breakdown
from tinyvit.benchmark.case import Case
from tinyvit.benchmark.compare import ratios, time_sides
from tinyvit.engine.blas import blas_name, one_blas_thread
from tinyvit.model.cost import multiply_adds


def measure(
    case: Case, engine: str, torch: tuple[str, ...], rounds: int, steps: int, by_operation: int | None
) -> dict:
    """All measurements of a case, as a dictionary for JSON.

    torch lists what to compare with: eager, compile, both or nothing. by_operation, if given, is the number
    of images for which every operation is timed alone.
    """
    sides = [("numpy", engine), *(("torch", variant) for variant in torch)]
    rate = matmul_rate(case.threads)
    work = multiply_adds(case.config) * case.batch * (3 if case.mode == "train" else 1)
    timings = time_sides(case, sides, rounds, steps)
    rate = max(rate, matmul_rate(case.threads))  # again: it may have been busy the first time
    result = {
        "case": case.as_dict(),
        "blas": blas_name(),
        "matmul_gmacs_per_second": rate / 1e9,
        "sides": [
            {
                "name": timing.name,
                "ms_per_step": 1e3 * timing.median,
                "images_per_second": case.batch / timing.median,
                "share_of_matmul_bound": work / timing.median / rate,
                "peak_bytes": timing.peak_bytes,
            }
            for timing in timings
        ],
        "ratios": {other.name: ratios(timings[0], other).tolist() for other in timings[1:]},
    }
    if by_operation:
        result["breakdown_seconds"] = breakdown(case, by_operation)
    return result


def cpu_table(result: dict) -> str:
    """The table for what measure gives."""
    case = result["case"]
    what = "training step" if case["mode"] == "train" else "inference"
    lines = [
        f"{case['model']} at {case['image_size']} px, batch {case['batch']}, {what}, float32, "
        f"{case['threads']} threads; "
        f"matrix products alone reach {2 * result['matmul_gmacs_per_second']:.0f} GFLOP/s",
        *([f"NumPy multiplies with {result['blas']}"] if result["blas"] else []),
        "",
        f"{'':16}{'ms/step':>10}{'img/s':>10}{'of bound':>10}{'peak memory':>14}",
    ]
    for side in result["sides"]:
        memory = f"{side['peak_bytes'] / 2**20:,.0f} MiB" if side["peak_bytes"] else "-"
        lines.append(
            f"{side['name']:16}{side['ms_per_step']:10.1f}{side['images_per_second']:10.1f}"
            f"{100 * side['share_of_matmul_bound']:9.0f}%{memory:>14}"
        )
    for name, values in result["ratios"].items():
        lines.append(
            f"\ntinyvit is {np.median(values):.2f} times as fast as {name}: median of {len(values)} pairs, "
            f"from {min(values):.2f} to {max(values):.2f}"
        )
    if "breakdown_seconds" in result:
        spent = result["breakdown_seconds"]
        whole = sum(spent.values())
        lines += ["", "time in each operation, on one thread:"]
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
