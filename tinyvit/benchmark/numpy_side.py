"""tinyvit's own side of a benchmark."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tinyvit.benchmark.case import Case
from tinyvit.engine import CpuEngine, ReferenceEngine
from tinyvit.model import initialise
from tinyvit.optim import AdamW, clip_norm

ENGINES = {
    "cpu": lambda config, threads: CpuEngine(config, threads=threads),
    "reference": lambda config, threads: ReferenceEngine(config),  # as many threads as BLAS takes
}


def make_step(case: Case, variant: str) -> Callable[[], None]:
    """A function that carries out the case once, with the engine `variant`: 'cpu' or 'reference'."""
    config = case.config
    params = initialise(config)
    images, labels = case.data()
    engine = ENGINES[variant](config, case.threads)
    if case.mode == "infer":
        return lambda: engine.logits(params, images)

    grads, optimizer = params.zeros_like(), AdamW(params, weight_decay=0.05)
    steps = iter(range(1, 1_000_000))

    def step() -> None:
        grads.flat.fill(0)
        loss = engine.loss_and_grads(params, images, labels, grads)
        clip_norm(grads, 1.0)
        optimizer.step(grads, 1e-3, next(steps))
        if not np.isfinite(loss):
            raise FloatingPointError("the benchmark's loss is not finite")

    return step
