"""Collecting losses and gradient norms during an epoch: read with a delay, checked and timed."""

import time

import numpy as np

from tinyvit.backend import Array, array_module
from tinyvit.training.divergence import Guard

_GPU_LOOK_STEPS = 20  # steps between readings: reading a number from a GPU waits for the GPU


class Meter:
    """Collects the results of steps, and reads them after every step or, on a GPU, every few steps.

    guard detects that training has diverged.
    """

    def __init__(self, guard: Guard):
        self.guard = guard
        self.images = 0  # trained on in the steps read so far
        self._unread: list[tuple[Array, Array]] = []
        self._start = time.perf_counter()

    @property
    def is_read(self) -> bool:
        """Whether everything collected has been read."""
        return not self._unread

    @property
    def rate(self) -> float | None:
        """Images per second since this meter was created; None before the first reading."""
        return self.images / max(time.perf_counter() - self._start, 1e-9) or None

    def add(self, loss: Array, norm: Array) -> bool:
        """Collect a step's loss and gradient norm; returns whether it is time to read."""
        self._unread.append((loss, norm))
        return len(self._unread) >= (1 if array_module(loss) is np else _GPU_LOOK_STEPS)

    def read(self, step: int, batch_size: int) -> tuple[float, float, float]:
        """The sums of losses and norms, and the last loss, of the unread steps; `step` is the last of them.

        Raises UserError if training has diverged in one of them.
        """
        values = [(float(loss), float(norm)) for loss, norm in self._unread]
        self._unread.clear()
        for number, (loss, norm) in enumerate(values, step - len(values) + 1):
            self.guard.check_loss(loss, number)
            self.guard.check_finite("the gradient", norm, number)
        self.images += len(values) * batch_size
        losses, norms = zip(*values, strict=True)
        return sum(losses), sum(norms), losses[-1]
