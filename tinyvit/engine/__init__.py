"""How a training step is carried out: engines that share ReferenceEngine's interface and its results."""

import numpy as np

from tinyvit.backend import array_module
from tinyvit.engine.batches import in_batches
from tinyvit.engine.cores import available_cores
from tinyvit.engine.cpu import CpuEngine
from tinyvit.engine.reference import ReferenceEngine, Training
from tinyvit.model import Params, ViTConfig
from tinyvit.objectives import Objective, loss_and_grads


def make_engine(
    config: ViTConfig,
    params: Params,
    objective: Objective = loss_and_grads,
    training: Training | None = None,
    threads: int | None = None,
) -> ReferenceEngine:
    """The fastest engine for the parameters' device; on a CPU, with this many threads (None: all cores)."""
    xp = array_module(params.flat)
    if xp is not np:
        return ReferenceEngine(config, params, objective, training)
    return CpuEngine(config, params, objective, training, threads)


__all__ = [
    "CpuEngine",
    "ReferenceEngine",
    "Training",
    "available_cores",
    "in_batches",
    "make_engine",
]
