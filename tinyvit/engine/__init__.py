"""How a training step is carried out: several engines, one interface (ReferenceEngine's), same results."""

from tinyvit.backend import Device
from tinyvit.engine.batches import logits_in_batches
from tinyvit.engine.cpu import CpuEngine, available_cores
from tinyvit.engine.reference import ReferenceEngine
from tinyvit.model import ViTConfig

Engine = ReferenceEngine | CpuEngine


def make_engine(
    config: ViTConfig, device: Device, smoothing: float = 0.0, threads: int | None = None
) -> Engine:
    """The fastest engine for a device; on the CPU with the given number of threads (None: all cores)."""
    if device.is_gpu:
        return ReferenceEngine(config, smoothing)
    return CpuEngine(config, smoothing, threads)


__all__ = ["CpuEngine", "Engine", "ReferenceEngine", "available_cores", "logits_in_batches", "make_engine"]
