"""How many cores and how much memory this process may use."""

from __future__ import annotations

import os


def available_cores() -> int:
    """Cores this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def available_memory() -> int | None:
    """Bytes of memory, None where unknown."""
    return None
