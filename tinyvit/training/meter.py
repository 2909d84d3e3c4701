"""Collecting losses and gradient norms during an epoch: read with a delay, checked and timed."""

from __future__ import annotations

import time

from tinyvit.backend import Array
from tinyvit.training.divergence import Guard


class Meter:
    """Collects the results of steps and reads them every few steps, since reading waits for a GPU.

    guard detects that training has diverged.
    """

    def __init__(self, reads_every: int, guard: Guard):
        self.reads_every, self.guard = reads_every, guard
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
        return len(self._unread) >= self.reads_every

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
