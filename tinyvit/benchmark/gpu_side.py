"""tinyvit's own side of a benchmark on a GPU."""

import sys
from collections.abc import Callable
from itertools import pairwise
from types import ModuleType
from typing import Any

import numpy as np

from tinyvit.backend import select_device
from tinyvit.benchmark.case import Case
from tinyvit.data import normalise, plan_batch
from tinyvit.engine import ReferenceEngine, Training
from tinyvit.engine.cuda.engine import CudaEngine
from tinyvit.errors import UserError
from tinyvit.model import initialise
from tinyvit.optim import AdamW

ENGINES = ("cuda", "reference")  # the second: array operations of CuPy, in float32


def make_step(case: Case, variant: str) -> Callable[[], None]:
    """A function that carries out the case once, with the engine `variant`: 'cuda' or 'reference'.

    It does not wait for the GPU. Should the engine have to go another way than usual, as without a graph, a
    line on standard error says so.
    """
    engine, step = make_engine_and_step(case, variant)
    said = ""

    def step_and_tell() -> None:
        nonlocal said
        step()
        if engine.note != said:
            said = engine.note
            print(said, file=sys.stderr, flush=True)

    return step_and_tell


def make_engine_and_step(case: Case, variant: str) -> tuple[Any, Callable[[], object]]:
    """The same, and the engine that it uses."""
    if variant not in ENGINES:
        raise ValueError(f"there is no engine {variant!r}: expected one of {', '.join(ENGINES)}")
    xp, config = _gpu(), case.config
    params = initialise(config).to(xp)
    images, labels = map(xp.asarray, case.data())
    training = None
    if case.mode == "train":
        training = Training(images, labels, AdamW(params, weight_decay=0.05), clip=1.0)
    engine: ReferenceEngine
    if variant == "cuda":
        engine = CudaEngine(config, params, training=training, precision=case.precision)
    else:
        engine = ReferenceEngine(config, params, training=training)
    if case.mode == "infer":
        x = normalise(images, np.dtype("float32"))
        return engine, lambda: engine.logits(x)
    numbers = iter(range(1, 1_000_000))
    batch = np.arange(case.batch)
    return engine, lambda: engine.step(plan_batch(0, next(numbers), batch), 1e-3)


def time_steps(step: Callable[[], object], count: int) -> list[float]:
    """The seconds that each of `count` steps took, by the clock of the GPU, sent one after another."""
    xp = _gpu()
    events = [xp.cuda.Event() for _ in range(count + 1)]
    events[0].record()
    for event in events[1:]:
        step()
        event.record()
    events[-1].synchronize()
    return [1e-3 * xp.cuda.get_elapsed_time(a, b) for a, b in pairwise(events)]


def peak_bytes() -> int:
    """The memory that CuPy has taken from the card so far; it gives none back."""
    return int(_gpu().get_default_memory_pool().total_bytes())


def _gpu() -> ModuleType:
    device = select_device("gpu")
    if not device.is_gpu:
        raise UserError(device.note)
    return device.xp
