"""tinyvit's own side of a benchmark."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tinyvit.benchmark.case import Case
from tinyvit.data import normalise, plan_batch
from tinyvit.engine import CpuEngine, ReferenceEngine, Training
from tinyvit.model import initialise
from tinyvit.optim import AdamW

ENGINES = ("cpu", "reference")  # the second uses as many threads as BLAS does


def make_step(case: Case, variant: str) -> Callable[[], None]:
    """A function that carries out the case once, with the engine `variant`: 'cpu' or 'reference'."""
    config = case.config
    params = initialise(config)
    images, labels = case.data()
    training = Training(images, labels, AdamW(params, weight_decay=0.05), clip=1.0)
    if variant == "cpu":
        engine = CpuEngine(config, params, training=training, threads=case.threads)
    else:
        engine = ReferenceEngine(config, params, training=training)
    if case.mode == "infer":
        x = normalise(images, np.dtype("float32"))
        return lambda: engine.logits(x)

    numbers = iter(range(1, 1_000_000))

    def step() -> None:
        loss, _ = engine.step(plan_batch(0, next(numbers), np.arange(case.batch)), 1e-3)
        if not np.isfinite(loss):
            raise FloatingPointError("the benchmark's loss is not finite")

    return step
