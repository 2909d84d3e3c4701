"""tinyvit's own side of a benchmark."""

from collections.abc import Callable

import numpy as np

from tinyvit.benchmark.case import Case
from tinyvit.data import normalise, plan_batch
from tinyvit.distributed import ALONE, Ranks
from tinyvit.engine import CpuEngine, ReferenceEngine, Training
from tinyvit.model import initialise
from tinyvit.optim import AdamW

ENGINES = {"cpu": CpuEngine, "reference": ReferenceEngine}  # the second: as many threads as BLAS takes


def make_step(case: Case, variant: str, ranks: Ranks = ALONE) -> Callable[[], None]:
    """A function that carries out the case once, with the engine `variant`: 'cpu' or 'reference'.

    On several ranks each computes as many images as the case has; a step is then a collective.
    """
    if variant not in ENGINES:
        raise ValueError(f"there is no engine {variant!r}: expected one of {', '.join(ENGINES)}")
    config = case.config
    images, labels = case.data()  # first: too large a batch is refused before a large model is drawn
    params = initialise(config)
    training = None
    if case.mode == "train":
        training = Training(images, labels, AdamW(params, weight_decay=0.05), clip=1.0, ranks=ranks)
    threads = {"threads": case.threads} if variant == "cpu" else {}
    engine = ENGINES[variant](config, params, training=training, **threads)
    if case.mode == "infer":
        x = normalise(images, np.dtype("float32"))
        return lambda: engine.logits(x)

    numbers = iter(range(1, 1_000_000))

    def step() -> None:
        indices = np.tile(np.arange(case.batch), ranks.size)
        loss, _ = engine.step(plan_batch(0, next(numbers), indices), 1e-3)
        if not np.isfinite(loss):
            raise FloatingPointError("the benchmark's loss is not finite")

    return step
