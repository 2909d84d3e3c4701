"""How long each kernel and product of a step takes on a GPU, measured one by one outside the graph.

    python -m tinyvit.benchmark.kernel_times ROUNDS CASE_AS_JSON

prints a JSON list with the median seconds of every step of the plan, in its order. Before and after every
launch an event is recorded. The host needs longer to launch a small kernel than the card to carry it out, and
the card would then be seen waiting; so it is first given something long to do.
"""

import json
import sys
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from tinyvit.backend import array_module
from tinyvit.benchmark.case import Case
from tinyvit.benchmark.gpu_side import make_engine_and_step
from tinyvit.benchmark.worker import end_with_parent
from tinyvit.engine.cuda.launch import Step

_AHEAD_BYTES = 256 << 20  # filled again and again while the host runs ahead: some 60 µs each on an H200
_AHEAD_FILLS = 300


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


def main(arguments: Sequence[str]) -> None:
    """Measure, and print the result."""
    rounds, case = arguments
    found = kernel_seconds(Case(**json.loads(case)), int(rounds))
    print(json.dumps([seconds for _, seconds in found]))


if __name__ == "__main__":
    end_with_parent()
    main(sys.argv[1:])
