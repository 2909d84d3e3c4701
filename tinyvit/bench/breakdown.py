"""Where the time of a step of the reference engine goes, operation by operation.

Every operation is temporarily replaced by one that records its own time: its running time minus that of the
operations it calls. What a step does beside them has a name in brackets; on few images, the optimiser weighs
more than in a batch. All of this runs on one thread, so that no time is spent waiting for other threads.
"""

import functools
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from tinyvit import ops
from tinyvit.bench.case import Case
from tinyvit.bench.tinyvit_side import make_step
from tinyvit.data import make_batch
from tinyvit.engine.blas import keep_freed_memory, one_blas_thread
from tinyvit.model import Params
from tinyvit.model.block import block, block_backward, last_block, last_block_backward
from tinyvit.optim import clip_norm
from tinyvit.optim.adam import Adam

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
