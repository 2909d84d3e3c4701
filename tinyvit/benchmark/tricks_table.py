"""Timing the tricks of the CPU engine one by one, and the table of what each gives alone."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from tinyvit.benchmark.case import Case
from tinyvit.benchmark.tricks import Results, Trick, folding, tricks
from tinyvit.engine.blas import one_blas_thread

PAIRS = 41  # short ones: on a busy machine, the median of many is worth more than a few long ones


def measure(case: Case, pairs: int) -> dict:
    """All tricks on one thread, as a dictionary for JSON. Both ways take turns, `pairs` times."""
    found, images = tricks(case.config)
    with one_blas_thread():
        rows = [_measured(trick, pairs) for trick in found]
        fold = folding(case.config)
        seconds = [_seconds(fold) for _ in range(pairs)]
    return {
        "model": case.model,
        "image_size": case.image_size,
        "images": images,
        "pairs": pairs,
        "tricks": rows,
        "folding_ms": 1e3 * float(np.median(seconds)),
    }


def table(result: dict) -> str:
    """The table for what measure gives."""
    width = max(len(row["shapes"]) for row in result["tricks"])
    lines = [
        f"{result['model']} at {result['image_size']} px: the tricks of the CPU engine one by one, on one "
        f"thread, {result['images']} images; medians of {result['pairs']} pairs",
        "",
        f"{'':33}{'inputs':{width}}{'plain ms':>10}{'engine ms':>11}{'times':>8}{'difference':>12}",
    ]
    lines += [
        f"{row['name']:33}{row['shapes']:{width}}{row['plain_ms']:10.3f}{row['engine_ms']:11.3f}"
        f"{row['times_as_fast']:8.2f}{row['difference']:12.1e}"
        for row in result["tricks"]
    ]
    fold = f"{result['folding_ms']:.3f} ms"
    return "\n".join([*lines, "", f"Folding a block and unfolding its gradients, once a step: {fold}."])


def _measured(trick: Trick, pairs: int) -> dict:
    """The row of one trick. The first run of each way is the warm-up, and its results are compared."""
    expected = trick.plain(*_copies(trick))
    difference = _difference(trick.as_plain(*trick.engine(*_copies(trick))), expected)
    ways = trick.plain, trick.engine
    seconds = np.array([[_seconds(way, *_copies(trick)) for way in ways] for _ in range(pairs)])
    plain, engine = np.median(seconds, axis=0)
    return {
        "name": trick.name,
        "shapes": trick.shapes,
        "plain_ms": 1e3 * float(plain),
        "engine_ms": 1e3 * float(engine),
        "times_as_fast": float(np.median(seconds[:, 0] / seconds[:, 1])),
        "difference": difference,
    }


def _copies(trick: Trick) -> Results:
    return tuple(each.copy() for each in trick.inputs)


def _seconds(way: Callable, *inputs: np.ndarray) -> float:
    start = time.perf_counter()
    way(*inputs)
    return time.perf_counter() - start


def _difference(got: Results, expected: Results) -> float:
    """The largest difference of any result, relative to the largest number of that result."""
    pairs = zip(got, expected, strict=True)
    return max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in pairs)
