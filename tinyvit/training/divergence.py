"""Training that has left all bounds: recognised, and said with what to do."""

from __future__ import annotations

import math

from tinyvit.errors import UserError
from tinyvit.runs.folder import RunFolder
from tinyvit.runs.settings import Settings

_WORST = 20  # a loss so many times that of blind guessing is past recovery


def check_loss(loss: float, classes: int, step: int, run: RunFolder, settings: Settings) -> None:
    """Raise UserError if the loss of a step is far beyond that of blind guessing, or not a number."""
    guess = math.log(max(classes, 2))
    if not loss < _WORST * guess:
        raise _diverged(f"the loss is {loss:.3g}, blind guessing gives {guess:.2f}", step, run, settings)


def check_finite(what: str, value: float, step: int, run: RunFolder, settings: Settings) -> None:
    """Raise UserError if a number that stands for `what` is infinite or not a number."""
    if not math.isfinite(value):
        raise _diverged(f"{what} is not finite", step, run, settings)


def _diverged(symptom: str, step: int, run: RunFolder, settings: Settings) -> UserError:
    path = run.last_path
    kept = f"The last good checkpoint is kept in {path}." if path.exists() else "No checkpoint was kept."
    return UserError(
        f"training has diverged: after step {step:,} {symptom}. {kept} "
        f"Try a lower --lr than {settings.lr:g}, or more --warmup-epochs."
    )
