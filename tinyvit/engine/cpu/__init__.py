"""The engine for NumPy arrays: micro-batches on several threads, with blocks cut for the caches."""

from tinyvit.engine.cpu.engine import CpuEngine

__all__ = ["CpuEngine"]
