"""The puzzle's race: your adam_in_pieces against adam_as_written, in turn, on this machine.

    python -m lessons.25_memory.race
    python -m lessons.25_memory.race --impl solution

Both work on as many numbers as ViT Ti/4 has parameters. They take turns, and every pair gives one ratio, so
that a machine that is slow for a while is slow for both. The slow one also runs against itself: ratios around
1, and how far they scatter is how little a single pair means.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from lessons.start import file_of, load

GOAL = 1.5
NUMBERS = 5_400_000


def main(arguments: list[str] | None = None) -> int:
    """Race, print what came of it; 0 if the goal was reached."""
    parser = argparse.ArgumentParser(description="Race adam_in_pieces against adam_as_written.")
    parser.add_argument("--impl", default="exercise", choices=["exercise", "solution"])
    parser.add_argument("--pairs", type=int, default=11, help="(default: 11)")
    parser.add_argument("--numbers", type=int, default=NUMBERS, help=f"(default: {NUMBERS:,})")
    args = parser.parse_args(arguments)
    slow = importlib.import_module("lessons.25_memory.slow").adam_as_written
    fast = load(file_of(Path(__file__).parent, args.impl)).adam_in_pieces
    try:
        difference = apart(fast, slow)
    except NotImplementedError as error:
        print(f"to do: {error}")
        return 1
    if not difference < 1e-5:
        print(f"not yet: w, m or v is off by {difference:.1e} after three steps. First make it right.")
        return 1
    state = numbers(args.numbers)

    def run_slow(step: int) -> None:
        state[0], state[2], state[3] = slow(*state, step, 1e-3)

    def run_fast(step: int) -> None:
        fast(*state, step, 1e-3)

    alone = pairs(run_slow, run_slow, args.pairs)
    against = pairs(run_slow, run_fast, args.pairs)
    ratio = statistics.median(s / f for s, f in against)
    print(f"{args.numbers:,} numbers in float32, {args.pairs} pairs")
    print(f"the slow one against itself  {spread(alone)}")
    print(f"the slow one against yours   {spread(against)}")
    if ratio >= GOAL:
        print(f"beaten: {ratio:.2f} times as fast")
        return 0
    print(f"not yet: {ratio:.2f} times as fast, {GOAL} is the goal")
    return 1


def apart(fast: Callable, slow: Callable) -> float:
    """The largest difference of w, m and v after three steps of both on a few numbers."""
    right, yours = numbers(40_001), numbers(40_001)
    for step in (1, 2, 3):
        right[0], right[2], right[3] = slow(*right, step, 1e-2)
        fast(*yours, step, 1e-2)
    return max(float(np.abs(a - b).max()) for a, b in zip(right, yours, strict=True))


def numbers(count: int) -> list[np.ndarray]:
    """w, g, m and v: the same for every call."""
    rng = np.random.default_rng(0)
    return [*rng.standard_normal((2, count), dtype=np.float32), *np.zeros((2, count), np.float32)]


def pairs(one: Callable, other: Callable, count: int) -> list[tuple[float, float]]:
    """Seconds of both, in turn, the other one first every second time; a first pair is not counted."""
    result, step = [], 0
    for number in range(count + 1):
        seconds = {}
        for which in (0, 1) if number % 2 else (1, 0):
            step += 1
            start = time.perf_counter()
            (one, other)[which](step)
            seconds[which] = time.perf_counter() - start
        result.append((seconds[0], seconds[1]))
    return result[1:]


def spread(times: list[tuple[float, float]]) -> str:
    """Both medians in milliseconds, and the ratios: the median, the lowest and the highest."""
    ratios = sorted(first / second for first, second in times)
    first, second = (1e3 * statistics.median(column) for column in zip(*times, strict=True))
    middle = statistics.median(ratios)
    return f"{first:6.1f} ms, {second:6.1f} ms, ratio {middle:.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"


if __name__ == "__main__":
    sys.exit(main())
