"""tinyvit's own side of a benchmark; the variant is the engine."""

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from tinyvit.backend import select_device
from tinyvit.bench.timing import Case, card_seconds, host_seconds, peak_resident_bytes
from tinyvit.data import normalise, plan_batch
from tinyvit.engine import CpuEngine, ReferenceEngine, Training
from tinyvit.model import initialise
from tinyvit.optim import AdamW
from tinyvit.support.distributed import ALONE, Ranks
from tinyvit.support.errors import UserError

# The fastest comes first. The reference uses as many threads as BLAS takes; on a GPU, plain CuPy in float32.
ENGINES = {"cpu": ("cpu", "reference"), "gpu": ("cuda", "reference")}


def make_step(case: Case, variant: str, ranks: Ranks = ALONE) -> Callable[[], None]:
    """A function that carries out the case once with the engine `variant`; it does not wait for a GPU.

    Should the engine have to go another way than usual, a line on standard error says so. On several ranks
    each computes as many images as the case has; a step is then a collective.
    """
    engine, step = make_engine_and_step(case, variant, ranks)
    said = ""

    def step_and_tell() -> None:
        nonlocal said
        step()
        if engine.note != said:
            said = engine.note
            print(said, file=sys.stderr, flush=True)

    return step_and_tell


def make_engine_and_step(case: Case, variant: str, ranks: Ranks = ALONE) -> tuple[Any, Callable[[], object]]:
    """The engine, and a function that has it carry out the case once."""
    if variant not in ENGINES[case.device]:
        raise ValueError(f"there is no engine {variant!r}: expected one of {', '.join(ENGINES[case.device])}")
    xp, config = _array_module(case), case.config
    images, labels = map(xp.asarray, case.data())  # first: too large a batch is refused before a large model
    params = initialise(config).to(xp)
    training = None
    if case.mode == "train":
        training = Training(images, labels, AdamW(params, weight_decay=0.05), clip=1.0, ranks=ranks)
    engine: ReferenceEngine
    if variant == "cuda":
        from tinyvit.engine.cuda.engine import CudaEngine  # lazy: needed only on a GPU
        from tinyvit.engine.cuda.support import unsupported_reason

        if reason := unsupported_reason(config, params, precision=case.precision):
            raise UserError(f"the CUDA engine cannot do this: {reason}. Use --engine reference.")
        engine = CudaEngine(config, params, training=training, precision=case.precision)
    elif variant == "cpu":
        engine = CpuEngine(config, params, training=training, threads=case.threads)
    else:
        engine = ReferenceEngine(config, params, training=training)
    if case.mode == "infer":
        x = normalise(images, np.dtype("float32"))
        return engine, lambda: engine.logits(x)

    numbers = iter(range(1, 1_000_000))
    indices = np.tile(np.arange(case.batch), ranks.size)

    def step() -> None:
        loss, _ = engine.step(plan_batch(0, next(numbers), indices), 1e-3)
        if case.device == "cpu" and not np.isfinite(loss):
            raise FloatingPointError("the benchmark's loss is not finite")

    return engine, step


def time_steps(case: Case, step: Callable[[], object], count: int) -> list[float]:
    """The seconds that each of `count` steps took."""
    if case.device == "cpu":
        return host_seconds(step, count)
    cuda = _array_module(case).cuda
    return card_seconds(step, count, cuda.Event, cuda.get_elapsed_time)


def peak_bytes(case: Case) -> int:
    """The peak memory of this process; on a GPU, what CuPy has taken from the card, as it gives none back."""
    if case.device == "cpu":
        return peak_resident_bytes()
    return int(_array_module(case).get_default_memory_pool().total_bytes())


def _array_module(case: Case) -> ModuleType:
    device = select_device(case.device)
    if case.device == "gpu" and not device.is_gpu:
        raise UserError(device.note)
    return device.xp
