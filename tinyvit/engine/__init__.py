"""How a training step is carried out: engines that share ReferenceEngine's interface and its results."""

from tinyvit.cores import available_cores
from tinyvit.engine.batches import in_batches
from tinyvit.engine.choose import PRECISIONS, make_engine
from tinyvit.engine.cpu import CpuEngine
from tinyvit.engine.reference import ReferenceEngine
from tinyvit.engine.training import Training

__all__ = [
    "PRECISIONS",
    "CpuEngine",
    "ReferenceEngine",
    "Training",
    "available_cores",
    "in_batches",
    "make_engine",
]
