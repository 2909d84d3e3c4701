"""Detecting that training has diverged, and telling the user what to do about it."""

import math
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from tinyvit.backend import Array
from tinyvit.errors import UserError
from tinyvit.quiet import without_warnings


class Diverged(UserError):  # noqa: N818 - what happens, not what it is
    """The parameters have grown beyond recovery."""


_WORST = 20  # a loss this many times that of blind guessing is beyond recovery


@dataclass(frozen=True)
class Guard:
    """Raises UserError if training has diverged, naming the last good checkpoint and the remedy.

    is_kept tells whether there is one; by default, whether there is such a file.
    """

    blind_loss: float
    checkpoint: Path
    lr: float
    is_kept: Callable[[], bool] | None = None

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
        kept = "No checkpoint was kept."
        if (self.is_kept or self.checkpoint.exists)():
            kept = f"The last good checkpoint is kept in {self.checkpoint}."
        return Diverged(
            f"training has diverged: after step {step:,} {symptom}. {kept} "
            f"Try a lower --lr than {self.lr:g}, or more --warmup-epochs."
        )


def without_overflow_warnings() -> AbstractContextManager[None]:
    """Within this context NumPy does not warn of overflow: training detects it and has a better message.

    np.errstate would not do: it holds for one thread, and the CPU engine computes on several.
    """
    return without_warnings(RuntimeWarning)
