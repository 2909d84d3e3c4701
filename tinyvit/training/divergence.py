"""Losses and gradient norms of an epoch, collected and timed; and what to do if training diverges."""

import math
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass

import numpy as np

from tinyvit.backend import Array, array_module
from tinyvit.support.errors import UserError, without_warnings


class Diverged(UserError):  # noqa: N818 - what happens, not what it is
    """The parameters have grown beyond recovery."""


_WORST = 20  # a loss this many times that of blind guessing is beyond recovery


@dataclass(frozen=True)
class Guard:
    """Raises UserError if training has diverged, with what kept() says is left of it, and the remedy."""

    blind_loss: float
    lr: float
    kept: Callable[[], str]

    def check_loss(self, loss: float, step: int) -> None:
        """Check that the loss of a step is a number, and not far above that of blind guessing."""
        if not loss < _WORST * self.blind_loss:
            raise self._diverged(
                f"the loss is {loss:.3g}, while blind guessing gives {self.blind_loss:.2f}", step
            )

    def check_finite(self, what: str, value: float, step: int) -> None:
        """Check that a value, which the message calls `what`, is finite."""
        if not math.isfinite(value):
            raise self._diverged(f"{what} is not finite", step)

    def check_arrays(self, what: str, arrays: Iterable[Array], step: int) -> None:
        """Check that every number in some arrays, which the message calls `what`, is finite."""
        for array in arrays:
            ends = float(array.max()) - float(array.min())  # not finite if any number is not
            self.check_finite(what, ends, step)

    def _diverged(self, symptom: str, step: int) -> Diverged:
        return Diverged(
            f"training has diverged: after step {step:,} {symptom}. {self.kept()} "
            f"Try a lower --lr than {self.lr:g}, or more --warmup-epochs."
        )


def without_overflow_warnings() -> AbstractContextManager[None]:
    """Within this context NumPy does not warn of overflow: training detects it and has a better message.

    np.errstate would not do: it holds for one thread, and the CPU engine computes on several.
    """
    return without_warnings(RuntimeWarning)


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
